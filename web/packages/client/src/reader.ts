// One reader of a session in one view: a page that is kept true.
//
// Invariant: the page is what the gateway's own is after the frame with this cursor. What cannot be
// applied, or was not recovered, is never patched over: the page is taken anew, whole.

import { at, query, type Gateway, type Refused } from "./gateway.ts";
import { Line, realClock, type Clock, type LineState } from "./line.ts";
import type { Patch, Snapshot, Thinking, View } from "./page.ts";
import { Page, type Change } from "./reduce.ts";
import type { ServerEvent } from "./events.ts";

export interface ReaderEnds {
  change(change: Change): void;
  state?(state: LineState, why?: Refused): void;
  /** Why the gateway ended the stream, in a word. */
  closed?(reason: string): void;
}

export class Reader {
  page = new Page();
  /** The run that was going when the page was taken whole. */
  run: string | undefined;
  private cursor: string | undefined;
  private head = 0;
  private readonly line: Line;

  constructor(
    gateway: Gateway,
    private readonly session: string,
    private readonly kind: { view: View; thinking?: Thinking },
    private readonly ends: ReaderEnds,
    clock: Clock = realClock,
  ) {
    this.line = new Line(
      gateway,
      {
        request: () => this.request(),
        event: (event) => this.hear(event),
        comment: (text) => this.beat(text),
        state: (state, why) => this.ends.state?.(state, why),
      },
      clock,
    );
  }

  open(): void {
    this.line.open();
  }

  close(): void {
    this.line.close();
  }

  /** For whoever knows that the line may be dead: the page was hidden, the network came back. */
  refresh(silentForMs = 0): void {
    this.line.refresh(silentForMs);
  }

  /** Somebody else saw that the log ends here: a line that said less is stale. */
  expectHead(head: number): void {
    if (0 < this.head && this.head < head) this.line.refresh();
  }

  private request() {
    const { view, thinking } = this.kind;
    const path = at`/v1/sessions/${this.session}/stream` + query({ view, format: "patch", thinking });
    const headers: Record<string, string> = this.cursor === undefined ? {} : { "last-event-id": this.cursor };
    return { path, headers };
  }

  private beat(text: string): void {
    const head = /^head (\d+)$/.exec(text)?.[1];
    if (head) this.head = Number(head);
  }

  private hear({ id, event, data }: ServerEvent): void {
    this.head = 0;
    if (event === "stream") return;
    if (event === "closed") return this.closed(data);
    const change = event === "snapshot" ? this.takeWhole(data) : event === "" || event === "message" ? this.apply(data) : undefined;
    if (!change) return;
    // Before anybody is told: what they do then must not make the page take the frame twice.
    if (id) this.cursor = id;
    this.ends.change(change);
  }

  private takeWhole(data: string): Change {
    const { run, picture } = JSON.parse(data) as { run: string | null; picture: Snapshot };
    this.page = Page.of(picture);
    this.run = run ?? undefined;
    return { what: "everything" };
  }

  /** Nothing if the patch does not fit: the page is then taken anew. */
  private apply(data: string): Change | undefined {
    try {
      return this.page.apply(JSON.parse(data) as Patch);
    } catch {
      this.cursor = undefined;
      this.line.again();
      return undefined;
    }
  }

  private closed(data: string): void {
    const { reason } = JSON.parse(data) as { reason: string };
    this.ends.closed?.(reason);
  }
}
