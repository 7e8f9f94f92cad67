// Keeps the scroll position at the end of a growing page while the user is at the end.
//
// Invariant: after the user has scrolled up, the position does not move (the browser anchors it) until the
// user returns to the end. Sizes are read only after layout; reading earlier would force a second one.

/** Distance that still counts as the end. */
const NEAR_END_PX = 8;

/** Follows the end of one scroll container. */
export class ScrollFollower {
  following = true;
  private lastScrollTop = 0;
  private lastScrollHeight = 0;
  private readonly resizeObserver: ResizeObserver;

  constructor(
    private readonly scroller: HTMLElement,
    content: HTMLElement,
    private readonly onChange: (following: boolean) => void,
  ) {
    scroller.addEventListener("scroll", this.onScroll, { passive: true });
    this.resizeObserver = new ResizeObserver(() => this.onResize());
    this.resizeObserver.observe(content);
    this.resizeObserver.observe(scroller);
  }

  scrollToEnd(): void {
    this.setFollowing(true);
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.recordPosition();
  }

  dispose(): void {
    this.scroller.removeEventListener("scroll", this.onScroll);
    this.resizeObserver.disconnect();
  }

  private readonly onScroll = (): void => {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const isNearEnd = scrollHeight - clientHeight - scrollTop <= NEAR_END_PX;
    // A page that became shorter also moves the position up; that is not the user.
    const hasScrolledUp = scrollTop < this.lastScrollTop - 1 && this.lastScrollHeight <= scrollHeight;
    if (isNearEnd) this.setFollowing(true);
    else if (hasScrolledUp) this.setFollowing(false);
    this.recordPosition();
  };

  private onResize(): void {
    if (this.following) this.scroller.scrollTop = this.scroller.scrollHeight;
    this.recordPosition();
  }

  private recordPosition(): void {
    this.lastScrollTop = this.scroller.scrollTop;
    this.lastScrollHeight = this.scroller.scrollHeight;
  }

  private setFollowing(following: boolean): void {
    if (this.following === following) return;
    this.following = following;
    this.onChange(following);
  }
}
