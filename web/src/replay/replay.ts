// Replay: one session in all five views side by side, live or at any event and speed. The
// gateway's paths for it are /theatre/SESSION and /v1/sessions/SESSION/theatre.

import { GatewayClient, StreamConnection, VIEWS, type Change, type Page, type View } from "@millpond/client";
import { LitElement, html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { pauseWhileHidden } from "../app/idle-tabs.ts";
import { createItemContext } from "../chat/create-item-context.ts";
import { isRunning, statusText } from "../chat/status.ts";
import { askQuestion } from "../i18n/ask-text.ts";
import { gatewayErrorText } from "../i18n/error-text.ts";
import type { Strings } from "../i18n/strings.ts";
import { PageView } from "../page/page-view.ts";
import { ScrollFollower } from "../page/scroll-follower.ts";
import { Timeline, delayBefore, type ReplayEvent } from "./timeline.ts";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 16] as const;

type Playback = { mode: "live" } | { mode: "stopped" } | { mode: "playing"; timer: ReturnType<typeof setTimeout> };

/** The replay page. */
export class ReplayElement extends LitElement {
  static override properties = { retryNote: { state: true }, error: { state: true }, playback: { state: true }, speed: { state: true }, version: { state: true } };
  /** Why the connection is being retried. */
  declare private retryNote: string | undefined;
  declare private error: string | undefined;
  declare private playback: Playback;
  declare private speed: number;
  /** Incremented when the timeline changes, to render again. */
  declare private version: number;
  declare strings: Strings;
  private readonly gateway: GatewayClient;
  private readonly session: string;
  private readonly timeline: Timeline;
  private readonly pages = new Map<View, Page>();
  private readonly pageViews = new Map<View, PageView>();
  private readonly scrollFollowers: ScrollFollower[] = [];
  private readonly connection: StreamConnection;
  private stopPausing: (() => void) | undefined;

  constructor() {
    super();
    const [, session = ""] = /^\/theatre\/([0-9A-Z]{26})$/.exec(location.pathname) ?? [];
    this.session = session;
    const token = location.hash.slice(1);
    this.gateway = new GatewayClient(token ? { token } : {});
    this.timeline = new Timeline((view, page, change) => this.showPage(view, page, change));
    this.playback = { mode: "live" };
    this.speed = 1;
    this.version = 0;
    this.connection = new StreamConnection(this.gateway, {
      nextRequest: () => ({ path: `/v1/sessions/${this.session}/theatre`, headers: this.resumeHeaders() }),
      onEvent: ({ event, data }) => event === "" && this.addEvent(JSON.parse(data) as ReplayEvent),
      onState: (state, error) => {
        if (state !== "connecting") this.retryNote = state === "retrying" && error ? gatewayErrorText(error, this.strings) : undefined;
        if (state === "refused") this.error = error?.status === 401 ? this.strings.signedOut : this.strings.chatNotFound;
      },
    });
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override firstUpdated(): void {
    const { gateway, strings, session } = this;
    const onEnlargeImage = (src: string) => void window.open(src, "_blank", "noopener");
    const itemContext = createItemContext(gateway, { strings, session, onEnlargeImage, onCopied: () => {} });
    for (const view of VIEWS) {
      const host = this.querySelector<HTMLElement>(`.page.view-${view}`);
      const [scroller, content] = [host?.closest<HTMLElement>(".column-body"), host?.parentElement];
      if (!host || !scroller || !content) continue;
      this.pageViews.set(view, new PageView(host, itemContext, () => {}, scroller));
      this.scrollFollowers.push(new ScrollFollower(scroller, content, () => {}));
    }
    this.connection.open();
    this.stopPausing = pauseWhileHidden(() => [this.connection]);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopPausing?.();
    this.connection.close();
    this.scrollFollowers.forEach((follower) => follower.dispose());
    this.pause();
  }

  protected override render(): TemplateResult {
    const { strings, timeline } = this;
    const current = timeline.events[timeline.position - 1];
    return html`<main class="replay">
      <header class="top-bar">
        <h1>${strings.product}: ${strings.replayTitle}</h1>
        <p class="current-event"><code>${current ? `${current.seq} ${current.event}` : ""}</code></p>
      </header>
      ${this.error ? html`<p class="error" role="alert">${this.error}</p>` : this.renderControls()}
      ${this.retryNote ? html`<p class="error" role="status">${this.retryNote}</p>` : nothing}
      <div class="columns">${VIEWS.map((view) => this.renderColumn(view))}</div>
    </main>`;
  }

  private renderControls(): TemplateResult {
    const { strings, timeline, playback } = this;
    const { length } = timeline.events;
    const label = strings.eventPosition(timeline.position, length);
    return html`<div class="controls" role="group" aria-label=${strings.replayControls}>
      ${playback.mode === "playing" ? this.renderButton("⏸", strings.pause, () => this.pause()) : this.renderButton("▶", strings.play, () => this.play())}
      ${this.renderButton("|◀", strings.firstEvent, () => this.seekTo(0))} ${this.renderButton("◀", strings.previousEvent, () => this.seekTo(timeline.position - 1))}
      ${this.renderButton("▶|", strings.nextEvent, () => this.seekTo(timeline.position + 1))}
      <input type="range" min="0" max=${length} .value=${live(String(timeline.position))} aria-label=${strings.eventSlider} aria-valuetext=${label} @input=${this.onSliderInput} />
      <output>${label}</output>
      <label>${strings.speed} <select @change=${this.onSpeedChange}>
        ${SPEEDS.map((speed) => html`<option value=${speed} ?selected=${speed === this.speed}>${speed}×</option>`)}
      </select></label>
      <button type="button" class=${playback.mode === "live" ? "primary" : ""} aria-pressed=${playback.mode === "live"} @click=${this.goLive}>${strings.followLive}</button>
    </div>`;
  }

  private renderButton(icon: string, label: string, onClick: () => void): TemplateResult {
    return html`<button type="button" aria-label=${label} title=${label} @click=${onClick}><span aria-hidden="true">${icon}</span></button>`;
  }

  private renderColumn(view: View): TemplateResult {
    const { strings } = this;
    const page = this.pages.get(view);
    const asks = page?.asks ?? [];
    return html`<div class="column">
      <h2>${strings.views[view]}</h2>
      <p class="muted">${strings.viewDescriptions[view]}</p>
      <div class="column-body" tabindex="0" role="region" aria-label=${strings.views[view]}>
        <div>
          <div class="page view-${view}"></div>
          ${asks.length ? html`<p class="card small">${asks.map((ask) => `${askQuestion(ask, strings)} ${ask.text}`).join("; ")}</p>` : nothing}
          <p class="status ${page && isRunning(page) ? "running" : ""}"><span class="pulse"></span>${page ? statusText(page, strings) : ""}</p>
        </div>
      </div>
    </div>`;
  }

  private resumeHeaders(): Record<string, string> {
    const last = this.timeline.events.at(-1);
    return last ? { "last-event-id": String(last.seq) } : {};
  }

  private addEvent(event: ReplayEvent): void {
    this.timeline.addEvent(event);
    if (this.playback.mode === "live") this.timeline.seek(this.timeline.events.length);
    this.version += 1;
  }

  private showPage(view: View, page: Page, change: Change): void {
    const isNew = this.pages.get(view) !== page;
    this.pages.set(view, page);
    const pageView = this.pageViews.get(view);
    if (isNew || change.type === "replaced") pageView?.show(page);
    else pageView?.applyChange(change);
  }

  private seekTo(position: number): void {
    this.pause();
    this.timeline.seek(position);
    this.version += 1;
  }

  private play(): void {
    if (this.timeline.position === this.timeline.events.length) this.timeline.seek(0);
    this.scheduleNext();
  }

  private scheduleNext(): void {
    const { timeline } = this;
    const [next, previous] = [timeline.events[timeline.position], timeline.events[timeline.position - 1]];
    if (!next) return this.pause();
    const timer = setTimeout(() => {
      timeline.seek(timeline.position + 1);
      this.scheduleNext();
    }, delayBefore(next, previous) / this.speed);
    this.playback = { mode: "playing", timer };
    this.version += 1;
  }

  private pause(): void {
    if (this.playback.mode === "playing") clearTimeout(this.playback.timer);
    this.playback = { mode: "stopped" };
  }

  private readonly onSliderInput = (event: Event): void => this.seekTo(Number((event.target as HTMLInputElement).value));

  private readonly onSpeedChange = (event: Event): void => {
    this.speed = Number((event.target as HTMLSelectElement).value);
  };

  private readonly goLive = (): void => {
    this.pause();
    this.playback = { mode: "live" };
    this.timeline.seek(this.timeline.events.length);
    this.version += 1;
  };
}

customElements.define("mp-replay", ReplayElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-replay": ReplayElement;
  }
}
