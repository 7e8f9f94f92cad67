// What is written in this window, and in others that are closed before it was sent. A chat is made
// when its first message is written, and has its name from that.
//
// Invariant: what was written stays in its field until it is in the outbox; a letter is sent by the
// window that wrote it, else by the one that leads. If both send it, its key makes that one message.

import type { Item, Letter } from "@millpond/client";
import type { Sent } from "../chat/composer.ts";
import type { Desk } from "../chat/desk.ts";
import { Post } from "../chat/post.ts";
import type { AppElement } from "./app.ts";
import { draftOf, letters } from "./kept.ts";

/** So much of a first message names its chat. */
const TITLE_CHARS = 60;
/** A tab that wrote a letter has sent it after so long, or cannot, or is closed. */
const TAKE_OVER_MS = 3_000;

type Host = Pick<AppElement, "gateway" | "words" | "place" | "session" | "chat" | "leads" | "known" | "go" | "tell" | "trying" | "refused">;

export class Writing implements Desk {
  readonly draft = draftOf;
  /** Of a chat that is not made yet. */
  readonly firstDraft = draftOf("");
  private readonly post: Post;
  private takingOver: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly app: Host,
    private readonly changed: (letters: readonly Letter[]) => void,
  ) {
    this.post = new Post(app.gateway, letters, {
      changed,
      taken: () => void app.chat?.readQueue(),
      signedOut: (why) => app.refused(why),
      full: () => app.tell(app.words.outboxFull),
    });
  }

  letters(): Letter[] {
    return this.post.letters();
  }

  flush(): void {
    this.post.flush();
  }

  /** A letter goes out though the tab that wrote it is closed. */
  takeOver(): void {
    if (this.app.leads) this.flush();
  }

  /** Another tab has written or sent something. */
  keptElsewhere(): void {
    const letters = this.letters();
    this.changed(letters);
    clearTimeout(this.takingOver);
    if (letters.length) this.takingOver = setTimeout(() => this.takeOver(), TAKE_OVER_MS);
  }

  drop(key: string): void {
    this.post.drop(key);
  }

  tell(words: string): void {
    this.app.tell(words);
  }

  async send(session: string, sent: Sent): Promise<boolean> {
    // Before anything is awaited: another chat may be open then.
    const known = this.app.known(session);
    const taken = await this.post.send(session, sent);
    if (taken && known) this.nameIfNameless(session, known.title, sent.text);
    return taken;
  }

  async sendFirst(sent: Sent): Promise<void> {
    await this.app.trying(this.firstDraft.sendBy(() => this.begin(sent), sent));
  }

  private async begin(sent: Sent): Promise<boolean> {
    const title = titleOf(sent.text);
    const session = await this.post.begin(title, sent);
    if (!session) return false;
    // It may have been made for what was written before.
    if (session.title !== title) void this.name(session.id, title);
    // Whoever has gone elsewhere meanwhile stays there.
    if (this.app.place.what === "start") this.app.go(session.id);
    return true;
  }

  async branch(session: string, from: Item, sent: Sent): Promise<boolean> {
    const branch = await this.post.branch(session, from, sent);
    if (!branch) return false;
    this.nameIfNameless(branch.id, branch.title, sent.text);
    if (session === this.app.session) this.app.go(branch.id);
    return true;
  }

  private nameIfNameless(session: string, title: string, text: string): void {
    if (!title && text.trim()) void this.name(session, titleOf(text));
  }

  private async name(session: string, title: string): Promise<void> {
    await this.app.trying(this.app.gateway.changeSession(session, { title }));
  }
}

function titleOf(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length <= TITLE_CHARS ? line : `${line.slice(0, TITLE_CHARS - 1).trimEnd()}…`;
}
