// <millpond-chat>: a chat embedded in another site's page, in its own shadow root.
//
//   <script type="module" src="https://gateway.example/embed.js"></script>
//   <millpond-chat session="01…" view="bubbles" token="…"></millpond-chat>
//
// The token of a shared link makes it read-only; an owner's token lets it write. The gateway must allow
// the page's origin (`--origin`).

import { GatewayClient, GatewayError, VIEWS, type OutboxMessage, type View } from "@millpond/client";
import "./chat/chat.ts";
import type { ChatElement } from "./chat/chat.ts";
import type { ChatHost } from "./chat/chat-host.ts";
import { Draft } from "./chat/draft.ts";
import { MessageSender } from "./chat/sender.ts";
import { errorText } from "./i18n/error-text.ts";
import { loadStrings, pickLanguage, type Strings } from "./i18n/strings.ts";
import style from "./style.css?inline";

const styleSheet = new CSSStyleSheet();
styleSheet.replaceSync(style);

const DELETED_POLL_MS = 5_000;

const SCRIPT_ORIGIN = new URL(import.meta.url).origin;

/** A gateway with the chat host and outbox for it. */
interface GatewayLink {
  base: string;
  token: string | null;
  gateway: GatewayClient;
  host: ChatHost;
  outboxFor(session: string): OutboxMessage[];
}

/** The embedded chat. Dispatches `millpond-notice` with a text for the user. */
export class MillpondChat extends HTMLElement {
  static observedAttributes = ["session", "view", "token", "lang", "gateway", "read-only"];
  private chat: ChatElement | undefined;
  private updateScheduled = false;
  /** Number of updates started; a result of an older update is dropped. */
  private updateCount = 0;
  private gatewayLink: GatewayLink | undefined;
  private strings: Strings | undefined;
  private deletedPollTimer: ReturnType<typeof setTimeout> | undefined;

  connectedCallback(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [styleSheet];
    this.scheduleUpdate();
  }

  attributeChangedCallback(): void {
    this.scheduleUpdate();
  }

  disconnectedCallback(): void {
    clearTimeout(this.deletedPollTimer);
    this.chat?.remove();
    this.chat = undefined;
  }

  /** Combines attribute changes of the same task into one update. */
  private scheduleUpdate(): void {
    if (this.updateScheduled) return;
    this.updateScheduled = true;
    queueMicrotask(() => {
      this.updateScheduled = false;
      void this.updateChat();
    });
  }

  private async updateChat(): Promise<void> {
    const update = ++this.updateCount;
    const isOutdated = () => update !== this.updateCount || !this.isConnected;
    const session = this.getAttribute("session");
    const strings = await loadStrings(pickLanguage([this.lang, document.documentElement.lang, ...navigator.languages]));
    if (!session || isOutdated()) return;
    this.strings = strings;
    const { gateway, host, outboxFor } = this.linkTo(this.getAttribute("gateway") ?? SCRIPT_ORIGIN, this.getAttribute("token"));
    const [canWrite, state] = await Promise.all([this.canWrite(gateway, session), fetchSessionState(gateway, session)]);
    if (isOutdated()) return;
    const chat = (this.chat ??= this.createChat());
    const properties: Partial<ChatElement> = { gateway, session, view: this.view, strings, outbox: outboxFor(session), isDeleted: state === "deleted" };
    Object.assign(chat, properties, { host: canWrite ? host : undefined });
    if (!chat.isConnected) this.shadowRoot?.replaceChildren(chat);
    if (chat.isDeleted) await this.pollDeleted(chat);
  }

  /** One link per gateway and token, so that unsent messages survive a change of session. */
  private linkTo(base: string, token: string | null): GatewayLink {
    if (this.gatewayLink?.base === base && this.gatewayLink.token === token) return this.gatewayLink;
    const gateway = new GatewayClient({ base, ...(token && { token }) });
    return (this.gatewayLink = { base, token, gateway, ...this.createHost(gateway) });
  }

  private createChat(): ChatElement {
    const chat = document.createElement("mp-chat");
    chat.addEventListener("enlarge-image", (event) => void window.open((event as CustomEvent<{ src: string }>).detail.src, "_blank", "noopener"));
    chat.addEventListener("closed", () => void this.pollDeleted(chat));
    chat.addEventListener("restore-session", () => void this.restoreSession(chat));
    return chat;
  }

  /** Updates `isDeleted` and polls while the session can be restored; restoring reopens the stream. */
  private async pollDeleted(chat: ChatElement): Promise<void> {
    clearTimeout(this.deletedPollTimer);
    const { gateway, session } = chat;
    const state = await fetchSessionState(gateway, session);
    if (gateway !== chat.gateway || session !== chat.session || state === "unavailable") return;
    chat.isDeleted = state === "deleted";
    // It may be restored in another window.
    if (chat.isDeleted) this.deletedPollTimer = setTimeout(() => void this.pollDeleted(chat), DELETED_POLL_MS);
  }

  private async restoreSession(chat: ChatElement): Promise<void> {
    const { gateway, session, host, strings } = chat;
    await gateway.restoreSession(session).catch((error: unknown) => host?.notify(strings.actionFailed(errorText(error, strings))));
    await this.pollDeleted(chat);
  }

  /** Only an owner can read the queue. A network error counts as writable. */
  private async canWrite(gateway: GatewayClient, session: string): Promise<boolean> {
    if (this.hasAttribute("read-only")) return false;
    return gateway.getQueue(session).then(() => true, (error: unknown) => !(error instanceof GatewayError));
  }

  private get view(): View {
    const view = this.getAttribute("view") as View;
    return VIEWS.includes(view) ? view : "bubbles";
  }

  private createHost(gateway: GatewayClient): Pick<GatewayLink, "host" | "outboxFor"> {
    let messages: OutboxMessage[] = [];
    const outboxFor = (session: string) => messages.filter((message) => message.session === session);
    const storage = { read: () => messages, write: (all: OutboxMessage[]) => void (messages = all) };
    const notify = (text: string) => void this.dispatchEvent(new CustomEvent("millpond-notice", { detail: text }));
    const sender = new MessageSender(gateway, storage, {
      onChange: () => this.chat?.gateway === gateway && (this.chat.outbox = outboxFor(this.chat.session)),
      onAccepted: (message, run) => this.chat?.acceptMessage(message, run),
      onOutboxFull: () => this.strings && notify(this.strings.outboxFull),
    });
    const drafts = new Map<string, Draft>();
    const host: ChatHost = {
      send: (session, message) => sender.send(session, message),
      removeFromOutbox: (key) => sender.removeFromOutbox(key),
      draftFor: (session) => {
        const draft = drafts.get(session) ?? new Draft();
        drafts.set(session, draft);
        return draft;
      },
      notify,
      sendAsBranch: async (session, original, message) => {
        const branch = await sender.sendAsBranch(session, original, message);
        if (branch && this.getAttribute("session") === session) this.setAttribute("session", branch.id);
        return branch !== undefined;
      },
    };
    return { host, outboxFor };
  }
}

/** `unavailable`: not found, no access or no network; the stream reports which. */
function fetchSessionState(gateway: GatewayClient, session: string): Promise<"exists" | "deleted" | "unavailable"> {
  return gateway.getSession(session).then(({ deleted_ms }) => (deleted_ms === undefined ? "exists" : "deleted"), () => "unavailable");
}

customElements.define("millpond-chat", MillpondChat);
