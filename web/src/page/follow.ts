// Whether the window follows the end of a page: only while the reader is there.
//
// Invariant: the window is never moved for a reader who has gone up, and what they look at stays where
// it is (the browser anchors it). Nothing but the reader's own return to the end follows again.
// Sizes are asked for only once the browser has laid the page out: asking earlier makes it do so twice.

/** As near as this counts as the end. */
const NEAR_PX = 8;

export class Follow {
  following = true;
  private top = 0;
  private height = 0;
  private readonly sizes: ResizeObserver;

  constructor(
    private readonly scroller: HTMLElement,
    content: HTMLElement,
    private readonly changed: (following: boolean) => void,
  ) {
    scroller.addEventListener("scroll", this.scrolled, { passive: true });
    this.sizes = new ResizeObserver(() => this.grown());
    this.sizes.observe(content);
    this.sizes.observe(scroller);
  }

  toTheEnd(): void {
    this.set(true);
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.note();
  }

  dispose(): void {
    this.scroller.removeEventListener("scroll", this.scrolled);
    this.sizes.disconnect();
  }

  private readonly scrolled = (): void => {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const nearEnd = scrollHeight - clientHeight - scrollTop <= NEAR_PX;
    // A page that became shorter moves the window up without anybody having gone there.
    const wentUp = scrollTop < this.top - 1 && this.height <= scrollHeight;
    if (nearEnd) this.set(true);
    else if (wentUp) this.set(false);
    this.note();
  };

  private grown(): void {
    if (this.following) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.note();
  }

  private note(): void {
    this.top = this.scroller.scrollTop;
    this.height = this.scroller.scrollHeight;
  }

  private set(following: boolean): void {
    if (this.following === following) return;
    this.following = following;
    this.changed(following);
  }
}
