// One session as it is read in one view: its line, its page on the screen, the window that follows the
// page and the voice that says it.
//
// Invariant: they begin together, end together and tell of the same page; `run` is the one that a person
// sees going on it.

import { Reader, type Change, type Gateway, type Item, type LineState, type Page, type Refused, type Thinking, type View } from "@millpond/client";
import type { Kept } from "../app/asleep.ts";
import { Announcer } from "../page/announcer.ts";
import { Follow } from "../page/follow.ts";
import { PageView } from "../page/page-view.ts";
import { statusWords } from "./status.ts";
import { aroundOf, type Wishes } from "./surroundings.ts";

export interface Read extends Wishes {
  gateway: Gateway;
  view: View;
  thinking: Thinking | undefined;
}

/** The elements that all this happens in. */
export interface Places {
  scroller: HTMLElement;
  content: HTMLElement;
  page: HTMLElement;
  voice: HTMLElement;
}

export interface ReadingEnds {
  /** What stands around the page may have to say something else now; not for text that only grew. */
  changed(change: Change): void;
  drawn(): void;
  followed(following: boolean): void;
  line(state: LineState, why?: Refused): void;
  /** Why the gateway ended it, in a word. */
  closed(reason: string): void;
}

export class Reading implements Kept {
  /** Nothing where the page has not said which. */
  run: string | undefined;
  /** A token that was refused is not good again: nothing more is asked with it. */
  private isOver = false;
  private readonly reader: Reader;
  private readonly around: ReturnType<typeof aroundOf>;
  private readonly pageView: PageView;
  private readonly follow: Follow;
  private readonly announcer: Announcer;

  constructor(
    private readonly read: Read,
    { scroller, content, page, voice }: Places,
    private readonly ends: ReadingEnds,
  ) {
    const { gateway, session, view, thinking } = read;
    this.around = aroundOf(gateway, read);
    this.pageView = new PageView(page, this.around, () => ends.drawn(), scroller);
    this.follow = new Follow(scroller, content, (following) => ends.followed(following));
    this.announcer = new Announcer(voice);
    this.reader = new Reader(gateway, session, { view, ...(thinking && { thinking }) }, {
      change: (change) => this.take(change),
      state: (state, why) => {
        this.isOver ||= state === "refused" && gateway.hasToken;
        ends.line(state, why);
      },
      closed: (reason) => ends.closed(reason),
    });
  }

  get page(): Page {
    return this.reader.page;
  }

  open(): void {
    if (!this.isOver) this.reader.open();
  }

  /** The page stays, as it is; `open` goes on from there. */
  close(): void {
    if (!this.isOver) this.reader.close();
  }

  refresh(silentForMs?: number): void {
    if (!this.isOver) this.reader.refresh(silentForMs);
  }

  expectHead(head: number): void {
    this.reader.expectHead(head);
  }

  toTheEnd(): void {
    this.follow.toTheEnd();
  }

  dispose(): void {
    this.reader.close();
    this.pageView.dispose();
    this.follow.dispose();
    this.announcer.dispose();
    this.around.dispose();
  }

  private take(change: Change): void {
    if (change.what === "everything") {
      this.run = this.reader.run;
      this.pageView.show(this.page);
      this.announcer.begin(this.page);
    } else {
      this.pageView.change(change);
      this.announcer.hear(change, this.page);
    }
    if (change.what === "appended") return;
    this.hearAround(change);
    this.ends.changed(change);
  }

  private hearAround(change: Change): void {
    const { words } = this.read;
    if (change.what === "item") this.begins(this.page.items.get(change.key));
    if (change.what === "around" && change.part === "asks") this.announcer.say(words.waitingForYou);
    if (change.what !== "ended") return;
    this.run = undefined;
    this.announcer.say(statusWords(this.page, words));
  }

  private begins(item: Item | undefined): void {
    if (item?.kind === "user" || item?.state === "live") this.run = item.run;
  }
}
