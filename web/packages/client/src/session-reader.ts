// Follows one session in one view and keeps its page up to date.
//
// Invariant: the page equals the gateway's page after the frame at `cursor`. If a patch does not apply,
// or the gateway cannot resume, the whole page is replaced by a snapshot.

import { urlPath, queryString, type GatewayClient, type GatewayError } from "./gateway-client.ts";
import { StreamConnection, systemClock, type Clock, type ConnectionState } from "./stream-connection.ts";
import type { Patch, Snapshot, Thinking, View } from "./protocol.ts";
import { Page, type Change } from "./page.ts";
import type { SseEvent } from "./sse-parser.ts";

/** Callbacks of a reader. */
export interface ReaderHandlers {
  onChange(change: Change): void;
  onState?(state: ConnectionState, why?: GatewayError): void;
  /** The gateway closed the stream; `reason` is a code such as `deleted`. */
  onClosed?(reason: string): void;
}

/** Reader of one session in one view. */
export class SessionReader {
  page = new Page();
  /** The active run at the time of the last snapshot. */
  run: string | undefined;
  private cursor: string | undefined;
  /** End of the log according to the last heartbeat; 0 if an event came since. */
  private heartbeatHead = 0;
  private readonly connection: StreamConnection;

  constructor(
    gateway: GatewayClient,
    private readonly session: string,
    private readonly options: { view: View; thinking?: Thinking },
    private readonly handlers: ReaderHandlers,
    clock: Clock = systemClock,
  ) {
    this.connection = new StreamConnection(
      gateway,
      {
        nextRequest: () => this.nextRequest(),
        onEvent: (event) => this.handleEvent(event),
        onComment: (text) => this.noteHeartbeat(text),
        onState: (state, why) => this.handlers.onState?.(state, why),
      },
      clock,
    );
  }

  open(): void {
    this.connection.open();
  }

  close(): void {
    this.connection.close();
  }

  /** Reconnects unless data arrived within the last `silentForMs`. Call it when the tab becomes visible or the network returns. */
  reconnect(silentForMs = 0): void {
    this.connection.reconnect(silentForMs);
  }

  /** Reconnects if the last heartbeat is behind `head`, the end of the log known from elsewhere. */
  reconnectIfBehind(head: number): void {
    if (0 < this.heartbeatHead && this.heartbeatHead < head) this.connection.reconnect();
  }

  private nextRequest() {
    const { view, thinking } = this.options;
    const path = urlPath`/v1/sessions/${this.session}/stream` + queryString({ view, format: "patch", thinking, protocol: 2 });
    const headers: Record<string, string> = this.cursor === undefined ? {} : { "last-event-id": this.cursor };
    return { path, headers };
  }

  private noteHeartbeat(text: string): void {
    const head = /^head (\d+)$/.exec(text)?.[1];
    if (head) this.heartbeatHead = Number(head);
  }

  private handleEvent({ id, event, data }: SseEvent): void {
    this.heartbeatHead = 0;
    if (event === "stream") return;
    if (event === "closed") return this.handleClosed(data);
    const change = event === "snapshot" ? this.replacePage(data) : event === "" || event === "message" ? this.applyPatch(data) : undefined;
    if (!change) return;
    // Before the handler runs: if it reconnects, this frame must not be applied twice.
    if (id) this.cursor = id;
    this.handlers.onChange(change);
  }

  private replacePage(data: string): Change {
    const { run, page } = JSON.parse(data) as { run: string | null; page: Snapshot };
    this.page = Page.fromSnapshot(page);
    this.run = run ?? undefined;
    return { type: "replaced" };
  }

  /** Returns undefined if the patch does not apply; the page is then requested as a snapshot. */
  private applyPatch(data: string): Change | undefined {
    try {
      return this.page.apply(JSON.parse(data) as Patch);
    } catch {
      this.cursor = undefined;
      this.connection.reconnectLater();
      return undefined;
    }
  }

  private handleClosed(data: string): void {
    const { reason } = JSON.parse(data) as { reason: string };
    this.handlers.onClosed?.(reason);
  }
}
