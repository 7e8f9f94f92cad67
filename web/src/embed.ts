// <millpond-chat>: the chat in somebody else's page, in a shadow root of its own.
//
//   <script type="module" src="https://gateway.example/embed.js"></script>
//   <millpond-chat session="01…" view="bubbles" token="…"></millpond-chat>
//
// With `token` of a shared link it reads along; with one of an owner it can also write. The page's
// origin has to be allowed with `origins`.

import { Gateway, Outbox, Refused, VIEWS, type Letter, type View } from "@millpond/client";
import "./chat/chat.ts";
import type { ChatElement, Desk } from "./chat/chat.ts";
import { letterOf } from "./chat/shown.ts";
import style from "./style.css?inline";
import { languageOf, wordsOf } from "./words/words.ts";

const sheet = new CSSStyleSheet();
sheet.replaceSync(style);

const HOME = new URL(import.meta.url).origin;

export class MillpondChat extends HTMLElement {
  static observedAttributes = ["session", "view", "token", "lang", "gateway", "read-only"];
  private chat: ChatElement | undefined;
  private queued = false;

  connectedCallback(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet];
    this.change();
  }

  attributeChangedCallback(): void {
    this.change();
  }

  disconnectedCallback(): void {
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
    const session = this.getAttribute("session");
    const words = await wordsOf(languageOf([this.lang, document.documentElement.lang, ...navigator.languages]));
    if (!session || !this.isConnected) return;
    const token = this.getAttribute("token");
    const gateway = new Gateway({ base: this.getAttribute("gateway") ?? HOME, ...(token && { token }) });
    const desk = (await this.mayWrite(gateway, session)) ? this.desk(gateway) : undefined;
    if (!this.isConnected) return;
    const chat = (this.chat ??= this.makeChat());
    Object.assign(chat, { gateway, session, view: this.view, words, desk });
    this.shadowRoot?.replaceChildren(chat);
  }

  private makeChat(): ChatElement {
    const chat = document.createElement("mp-chat");
    chat.addEventListener("open-large", (event) => void window.open((event as CustomEvent<{ src: string }>).detail.src, "_blank", "noopener"));
    return chat;
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

  private desk(gateway: Gateway): Desk {
    let letters: Letter[] = [];
    const drawer = { read: () => letters, write: (all: Letter[]) => void (letters = all) };
    const outbox = new Outbox(gateway, drawer, {
      changed: (all) => this.chat && (this.chat.letters = all),
      taken: () => void this.chat?.readQueue(),
    });
    let draft = "";
    const drafts = { read: () => draft, write: (text: string) => void (draft = text), pictures: [] };
    return {
      send: async (session, sent) => outbox.put(await letterOf(gateway, session, sent)),
      drop: (key) => outbox.drop(key),
      drafts: () => drafts,
      tell: (words) => void this.dispatchEvent(new CustomEvent("millpond-notice", { detail: words })),
      branch: async (session, from, sent) => {
        const { branchBefore } = await import("./doing/branch.ts");
        const branch = await branchBefore(gateway, session, from);
        outbox.put(await letterOf(gateway, branch.id, sent, from));
        this.setAttribute("session", branch.id);
      },
    };
  }
}

customElements.define("millpond-chat", MillpondChat);
