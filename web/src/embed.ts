// <millpond-chat>: the chat in somebody else's page, in a shadow root of its own.
//
//   <script type="module" src="https://gateway.example/embed.js"></script>
//   <millpond-chat session="01…" view="bubbles" token="…"></millpond-chat>
//
// With `token` of a shared link it reads along; with one of an owner it can also write. The page's
// origin has to be allowed with `origins`.

import { Gateway, Refused, VIEWS, type Letter, type View } from "@millpond/client";
import "./chat/chat.ts";
import type { ChatElement } from "./chat/chat.ts";
import type { Desk } from "./chat/desk.ts";
import { Draft } from "./chat/draft.ts";
import { Post } from "./chat/post.ts";
import style from "./style.css?inline";
import { reasonOf } from "./words/reason.ts";
import { languageOf, wordsOf, type Words } from "./words/words.ts";

const sheet = new CSSStyleSheet();
sheet.replaceSync(style);

const LOOK_AGAIN_MS = 5_000;

const HOME = new URL(import.meta.url).origin;

/** A gateway, and what is on its way there. */
interface Door {
  base: string;
  token: string | null;
  gateway: Gateway;
  desk: Desk;
  letters(session: string): Letter[];
}

export class MillpondChat extends HTMLElement {
  static observedAttributes = ["session", "view", "token", "lang", "gateway", "read-only"];
  private chat: ChatElement | undefined;
  private queued = false;
  /** Counts what was shown: an answer that a later question has overtaken says nothing. */
  private turn = 0;
  private door: Door | undefined;
  private words: Words | undefined;
  private looking: ReturnType<typeof setTimeout> | undefined;

  connectedCallback(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet];
    this.change();
  }

  attributeChangedCallback(): void {
    this.change();
  }

  disconnectedCallback(): void {
    clearTimeout(this.looking);
    this.chat?.remove();
    this.chat = undefined;
  }

  /** Several attributes that change together are one change. */
  private change(): void {
    if (this.queued) return;
    this.queued = true;
    queueMicrotask(() => {
      this.queued = false;
      void this.show();
    });
  }

  private async show(): Promise<void> {
    const turn = ++this.turn;
    const isOver = () => turn !== this.turn || !this.isConnected;
    const session = this.getAttribute("session");
    const words = await wordsOf(languageOf([this.lang, document.documentElement.lang, ...navigator.languages]));
    if (!session || isOver()) return;
    this.words = words;
    const { gateway, desk, letters } = this.doorOf(this.getAttribute("gateway") ?? HOME, this.getAttribute("token"));
    const [mayWrite, whether] = await Promise.all([this.mayWrite(gateway, session), whetherDeleted(gateway, session)]);
    if (isOver()) return;
    const chat = (this.chat ??= this.makeChat());
    Object.assign(chat, { gateway, session, view: this.view, words, desk: mayWrite ? desk : undefined, letters: letters(session), deleted: whether === "deleted" });
    if (!chat.isConnected) this.shadowRoot?.replaceChildren(chat);
    if (chat.deleted) await this.lookAgain(chat);
  }

  /** The same for all chats there: what is on its way to one of them is not lost with a change to another. */
  private doorOf(base: string, token: string | null): Door {
    if (this.door?.base === base && this.door.token === token) return this.door;
    const gateway = new Gateway({ base, ...(token && { token }) });
    return (this.door = { base, token, gateway, ...this.makeDesk(gateway) });
  }

  private makeChat(): ChatElement {
    const chat = document.createElement("mp-chat");
    chat.addEventListener("open-large", (event) => void window.open((event as CustomEvent<{ src: string }>).detail.src, "_blank", "noopener"));
    chat.addEventListener("closed", () => void this.lookAgain(chat));
    chat.addEventListener("bring-back", () => void this.bringBack(chat));
    return chat;
  }

  /** An owner's line is opened again though the session was deleted: until it is gone it can be brought back. */
  private async lookAgain(chat: ChatElement): Promise<void> {
    clearTimeout(this.looking);
    const { gateway, session } = chat;
    const whether = await whetherDeleted(gateway, session);
    if (gateway !== chat.gateway || session !== chat.session || whether === "gone") return;
    chat.deleted = whether === "deleted";
    // Somebody else may bring it back.
    if (chat.deleted) this.looking = setTimeout(() => void this.lookAgain(chat), LOOK_AGAIN_MS);
  }

  private async bringBack(chat: ChatElement): Promise<void> {
    const { gateway, session, desk, words } = chat;
    await gateway.restoreSession(session).catch((error: unknown) => desk?.tell(words.failed(reasonOf(error, words))));
    await this.lookAgain(chat);
  }

  /** A guest's token does not open what waits. */
  private async mayWrite(gateway: Gateway, session: string): Promise<boolean> {
    if (this.hasAttribute("read-only")) return false;
    return gateway.queue(session).then(() => true, (error: unknown) => !(error instanceof Refused));
  }

  private get view(): View {
    const wanted = this.getAttribute("view") as View;
    return VIEWS.includes(wanted) ? wanted : "bubbles";
  }

  private makeDesk(gateway: Gateway): Pick<Door, "desk" | "letters"> {
    let kept: Letter[] = [];
    const letters = (session: string) => kept.filter((letter) => letter.session === session);
    const drawer = { read: () => kept, write: (all: Letter[]) => void (kept = all) };
    const tell = (words: string) => void this.dispatchEvent(new CustomEvent("millpond-notice", { detail: words }));
    const post = new Post(gateway, drawer, {
      changed: () => this.chat?.gateway === gateway && (this.chat.letters = letters(this.chat.session)),
      taken: () => void this.chat?.readQueue(),
      full: () => this.words && tell(this.words.outboxFull),
    });
    const drafts = new Map<string, Draft>();
    const desk: Desk = {
      send: (session, sent) => post.send(session, sent),
      drop: (key) => post.drop(key),
      draft: (session) => {
        const draft = drafts.get(session) ?? new Draft();
        drafts.set(session, draft);
        return draft;
      },
      tell,
      branch: async (session, from, sent) => {
        const branch = await post.branch(session, from, sent);
        if (branch && this.getAttribute("session") === session) this.setAttribute("session", branch.id);
        return branch !== undefined;
      },
    };
    return { desk, letters };
  }
}

/** What cannot be looked up is gone, or not ours; reading finds out which. */
function whetherDeleted(gateway: Gateway, session: string): Promise<"there" | "deleted" | "gone"> {
  return gateway.session(session).then(({ deleted_ms }) => (deleted_ms === undefined ? "there" : "deleted"), () => "gone");
}

customElements.define("millpond-chat", MillpondChat);
