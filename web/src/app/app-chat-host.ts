// Chat host of the app: drafts, outbox and new sessions. A session is created and titled when its first
// message is sent.
//
// Invariant: a draft is kept until its message is in the outbox. A message is sent by the tab that wrote
// it, or by the leader tab if that one is closed; if both send it, its key makes that one message.

import type { Item, OutboxMessage } from "@millpond/client";
import type { ChatHost } from "../chat/chat-host.ts";
import type { ComposedMessage } from "../chat/composer.ts";
import { MessageSender } from "../chat/sender.ts";
import type { AppElement } from "./app.ts";
import { outboxStorage, sessionDraft } from "./browser-storage.ts";

/** Maximum length of a title taken from the first message. */
const TITLE_CHARS_MAX = 60;
/** Time the tab that wrote a message has to send it before the leader tab does. */
const TAKE_OVER_MS = 3_000;

/** The part of the app that the host uses. */
type HostApp = Pick<AppElement, "gateway" | "strings" | "route" | "sessionId" | "chatElement" | "isLeaderTab" | "findSession" | "openSession" | "showToast" | "toastErrors" | "checkSignedOut">;

/** Sends messages of all chats of this tab. */
export class AppChatHost implements ChatHost {
  readonly draftFor = sessionDraft;
  /** Draft of the start page, where no session exists yet. */
  readonly newChatDraft = sessionDraft("");
  private readonly sender: MessageSender;
  private takeOverTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly app: HostApp,
    private readonly onOutboxChange: (messages: readonly OutboxMessage[]) => void,
  ) {
    this.sender = new MessageSender(app.gateway, outboxStorage, {
      onChange: onOutboxChange,
      onAccepted: (message, run) => app.chatElement?.acceptMessage(message, run),
      onSignedOut: (error) => app.checkSignedOut(error),
      onOutboxFull: () => app.showToast(app.strings.outboxFull),
    });
  }

  outboxMessages(): OutboxMessage[] {
    return this.sender.outboxMessages();
  }

  flush(): void {
    this.sender.flush();
  }

  /** Sends messages whose own tab may be closed. */
  flushIfLeader(): void {
    if (this.app.isLeaderTab) this.flush();
  }

  /** Another tab changed the outbox. */
  handleStorageChange(): void {
    const messages = this.outboxMessages();
    this.onOutboxChange(messages);
    clearTimeout(this.takeOverTimer);
    if (messages.length) this.takeOverTimer = setTimeout(() => this.flushIfLeader(), TAKE_OVER_MS);
  }

  removeFromOutbox(key: string): void {
    this.sender.removeFromOutbox(key);
  }

  notify(text: string): void {
    this.app.showToast(text);
  }

  async send(session: string, message: ComposedMessage): Promise<boolean> {
    // Read before the first await: another chat may be open afterwards.
    const known = this.app.findSession(session);
    const isStored = await this.sender.send(session, message);
    if (isStored && known) this.setTitleIfEmpty(session, known.title, message.text);
    return isStored;
  }

  async sendFirstMessage(message: ComposedMessage): Promise<void> {
    await this.app.toastErrors(this.newChatDraft.sendWith(() => this.startSession(message), message));
  }

  private async startSession(message: ComposedMessage): Promise<boolean> {
    const title = titleFromText(message.text);
    const session = await this.sender.sendAsNewSession(title, message);
    if (!session) return false;
    // The session may have been created for an earlier text whose sending failed.
    if (session.title !== title) void this.setTitle(session.id, title);
    // Do not navigate if the user has left the start page.
    if (this.app.route.kind === "start") this.app.openSession(session.id);
    return true;
  }

  async sendAsBranch(session: string, original: Item, message: ComposedMessage): Promise<boolean> {
    const branch = await this.sender.sendAsBranch(session, original, message);
    if (!branch) return false;
    this.setTitleIfEmpty(branch.id, branch.title, message.text);
    if (session === this.app.sessionId) this.app.openSession(branch.id);
    return true;
  }

  private setTitleIfEmpty(session: string, title: string, text: string): void {
    if (!title && text.trim()) void this.setTitle(session, titleFromText(text));
  }

  private async setTitle(session: string, title: string): Promise<void> {
    await this.app.toastErrors(this.app.gateway.updateSession(session, { title }));
  }
}

function titleFromText(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length <= TITLE_CHARS_MAX ? line : `${line.slice(0, TITLE_CHARS_MAX - 1).trimEnd()}…`;
}
