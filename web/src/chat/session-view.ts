// One session in one view: its reader, the rendered page, scrolling and screen reader announcements.
//
// Invariant: all parts show the same page and are disposed together. `run` is the run shown as active.

import { SessionReader, type Change, type ConnectionState, type GatewayClient, type GatewayError, type Item, type Page, type Thinking, type View } from "@millpond/client";
import type { PausableConnection } from "../app/idle-tabs.ts";
import { askQuestion } from "../i18n/ask-text.ts";
import { Announcer } from "../page/announcer.ts";
import { PageView } from "../page/page-view.ts";
import { ScrollFollower } from "../page/scroll-follower.ts";
import { createItemContext, type ItemContextOptions } from "./create-item-context.ts";
import { endingText } from "./status.ts";

export interface SessionViewOptions extends ItemContextOptions {
  gateway: GatewayClient;
  view: View;
  thinking: Thinking | undefined;
}

/** The elements it renders into. */
export interface SessionViewElements {
  scroller: HTMLElement;
  content: HTMLElement;
  page: HTMLElement;
  announcer: HTMLElement;
}

/** Callbacks of a session view. */
export interface SessionViewHandlers {
  /** The page changed; not called for appended text. */
  onPageChange(change: Change): void;
  onDrawn(): void;
  onFollowChange(following: boolean): void;
  onConnection(state: ConnectionState, error?: GatewayError): void;
  /** The gateway closed the stream; `reason` is a code. */
  onClosed(reason: string): void;
}

/** Shows one session in one view. */
export class SessionView implements PausableConnection {
  /** The active run; undefined if the page does not show one yet. */
  run: string | undefined;
  /** A refused token stays invalid: no more requests are made with it. */
  private isTokenRefused = false;
  private readonly reader: SessionReader;
  private readonly itemContext: ReturnType<typeof createItemContext>;
  private readonly pageView: PageView;
  private readonly scrollFollower: ScrollFollower;
  private readonly announcer: Announcer;

  constructor(
    private readonly options: SessionViewOptions,
    { scroller, content, page, announcer }: SessionViewElements,
    private readonly handlers: SessionViewHandlers,
  ) {
    const { gateway, session, view, thinking } = options;
    this.itemContext = createItemContext(gateway, options);
    this.pageView = new PageView(page, this.itemContext, () => handlers.onDrawn(), scroller);
    this.scrollFollower = new ScrollFollower(scroller, content, (following) => handlers.onFollowChange(following));
    this.announcer = new Announcer(announcer);
    this.reader = new SessionReader(gateway, session, { view, ...(thinking && { thinking }) }, {
      onChange: (change) => this.applyChange(change),
      onState: (state, error) => {
        this.isTokenRefused ||= state === "refused" && gateway.hasToken;
        handlers.onConnection(state, error);
      },
      onClosed: (reason) => handlers.onClosed(reason),
    });
  }

  get page(): Page {
    return this.reader.page;
  }

  open(): void {
    if (!this.isTokenRefused) this.reader.open();
  }

  /** Disconnects and keeps the page; `open` resumes from there. */
  close(): void {
    if (!this.isTokenRefused) this.reader.close();
  }

  reconnect(silentForMs?: number): void {
    if (!this.isTokenRefused) this.reader.reconnect(silentForMs);
  }

  reconnectIfBehind(head: number): void {
    this.reader.reconnectIfBehind(head);
  }

  scrollToEnd(): void {
    this.scrollFollower.scrollToEnd();
  }

  dispose(): void {
    this.reader.close();
    this.pageView.dispose();
    this.scrollFollower.dispose();
    this.announcer.dispose();
    this.itemContext.dispose();
  }

  private applyChange(change: Change): void {
    if (change.type === "replaced") {
      this.run = this.reader.run;
      this.pageView.show(this.page);
      this.announcer.reset(this.page);
    } else {
      this.pageView.applyChange(change);
      this.announcer.announceChange(change, this.page);
    }
    if (change.type === "appended") return;
    this.trackRun(change);
    this.announceChange(change);
    this.handlers.onPageChange(change);
  }

  private trackRun(change: Change): void {
    if (change.type === "ended") this.run = undefined;
    if (change.type !== "item") return;
    const item: Item | undefined = this.page.items.get(change.key);
    if (item?.kind === "user" || item?.state === "live") this.run = item.run;
  }

  private announceChange(change: Change): void {
    const { strings } = this.options;
    const ask = this.page.asks.at(-1);
    if (change.type === "page" && change.part === "asks" && ask) this.announcer.announce(askQuestion(ask, strings));
    if (change.type === "ended") this.announcer.announce(endingText(change.ended, strings));
  }
}
