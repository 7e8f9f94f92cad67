// One session in all five views side by side, live or at any moment and speed.

import { Gateway, Line, VIEWS, type Change, type Page, type View } from "@millpond/client";
import { LitElement, html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { openWhileSeen } from "../app/asleep.ts";
import { isGoing, statusWords } from "../chat/status.ts";
import { aroundOf } from "../chat/surroundings.ts";
import { Follow } from "../page/follow.ts";
import { PageView } from "../page/page-view.ts";
import { saidBy } from "../words/reason.ts";
import type { Words } from "../words/words.ts";
import { Stage, pauseBefore, type Moment } from "./stage.ts";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 16] as const;

type Play = { how: "live" } | { how: "stopped" } | { how: "playing"; timer: ReturnType<typeof setTimeout> };

export class TheatreElement extends LitElement {
  static override properties = { note: { state: true }, problem: { state: true }, play: { state: true }, speed: { state: true }, stamp: { state: true } };
  /** Why nothing comes for now. */
  declare private note: string | undefined;
  declare private problem: string | undefined;
  declare private play: Play;
  declare private speed: number;
  declare private stamp: number;
  declare words: Words;
  private readonly gateway: Gateway;
  private readonly session: string;
  private readonly stage: Stage;
  private readonly pages = new Map<View, Page>();
  private readonly pageViews = new Map<View, PageView>();
  private readonly follows: Follow[] = [];
  private readonly reader: Line;
  private wake: (() => void) | undefined;

  constructor() {
    super();
    const [, session = ""] = /^\/theatre\/([0-9A-Z]{26})$/.exec(location.pathname) ?? [];
    this.session = session;
    const token = location.hash.slice(1);
    this.gateway = new Gateway(token ? { token } : {});
    this.stage = new Stage((view, page, change) => this.show(view, page, change));
    Object.assign(this, { play: { how: "live" }, speed: 1, stamp: 0 });
    this.reader = new Line(this.gateway, {
      request: () => ({ path: `/v1/sessions/${this.session}/theatre`, headers: this.cursor() }),
      event: ({ event, data }) => event === "" && this.hear(JSON.parse(data) as Moment),
      state: (state, why) => {
        if (state !== "connecting") this.note = state === "waiting" && why ? saidBy(why, this.words) : undefined;
        if (state === "refused") this.problem = why?.status === 401 ? this.words.signedOut : this.words.gone;
      },
    });
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override firstUpdated(): void {
    const around = aroundOf(this.gateway, { words: this.words, session: this.session, openLarge: (src) => void window.open(src, "_blank", "noopener"), copied: () => {} });
    for (const view of VIEWS) {
      const host = this.querySelector<HTMLElement>(`.page.view-${view}`);
      const [scroller, content] = [host?.closest<HTMLElement>(".column-body"), host?.parentElement];
      if (!host || !scroller || !content) continue;
      this.pageViews.set(view, new PageView(host, around, () => {}, scroller));
      this.follows.push(new Follow(scroller, content, () => {}));
    }
    this.reader.open();
    this.wake = openWhileSeen(() => [this.reader]);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.wake?.();
    this.reader.close();
    this.follows.forEach((follow) => follow.dispose());
    this.stop();
  }

  protected override render(): TemplateResult {
    const { words, stage } = this;
    const moment = stage.moments[stage.place - 1];
    return html`<main class="theatre">
      <header class="top">
        <h1>${words.product}: ${words.theatreTitle}</h1>
        <p class="moment"><code>${moment ? `${moment.seq} ${moment.event}` : ""}</code></p>
      </header>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : this.controls()}
      ${this.note ? html`<p class="problem" role="status">${this.note}</p>` : nothing}
      <div class="columns">${VIEWS.map((view) => this.column(view))}</div>
    </main>`;
  }

  private controls(): TemplateResult {
    const { words, stage, play } = this;
    const { length } = stage.moments;
    const label = words.momentOf(stage.place, length);
    return html`<div class="controls" role="group" aria-label=${words.playing}>
      ${play.how === "playing" ? this.button("⏸", words.pause, () => this.stop()) : this.button("▶", words.play, () => this.start())}
      ${this.button("|◀", words.toTheStart, () => this.jump(0))} ${this.button("◀", words.stepBack, () => this.jump(stage.place - 1))}
      ${this.button("▶|", words.stepOn, () => this.jump(stage.place + 1))}
      <input type="range" min="0" max=${length} .value=${live(String(stage.place))} aria-label=${words.moment} aria-valuetext=${label} @input=${this.slid} />
      <output>${label}</output>
      <label>${words.speed} <select @change=${this.chooseSpeed}>
        ${SPEEDS.map((speed) => html`<option value=${speed} ?selected=${speed === this.speed}>${speed}×</option>`)}
      </select></label>
      <button type="button" class=${play.how === "live" ? "primary" : ""} aria-pressed=${play.how === "live"} @click=${this.goLive}>${words.live}</button>
    </div>`;
  }

  private button(sign: string, label: string, press: () => void): TemplateResult {
    return html`<button type="button" aria-label=${label} title=${label} @click=${press}><span aria-hidden="true">${sign}</span></button>`;
  }

  private column(view: View): TemplateResult {
    const { words } = this;
    const page = this.pages.get(view);
    const asks = page?.asks ?? [];
    return html`<div class="column">
      <h2>${words.views[view]}</h2>
      <p class="soft">${words.viewMeans[view]}</p>
      <div class="column-body" tabindex="0" role="region" aria-label=${words.views[view]}>
        <div>
          <div class="page view-${view}"></div>
          ${asks.length ? html`<p class="card small">${words.waitingForYou}: ${asks.map(({ text }) => text).join("; ")}</p>` : nothing}
          <p class="status ${page && isGoing(page) ? "going" : ""}"><span class="pulse"></span>${page ? statusWords(page, words) : ""}</p>
        </div>
      </div>
    </div>`;
  }

  private cursor(): Record<string, string> {
    const last = this.stage.moments.at(-1);
    return last ? { "last-event-id": String(last.seq) } : {};
  }

  private hear(moment: Moment): void {
    this.stage.add(moment);
    if (this.play.how === "live") this.stage.goTo(this.stage.moments.length);
    this.stamp += 1;
  }

  private show(view: View, page: Page, change: Change): void {
    const isNew = this.pages.get(view) !== page;
    this.pages.set(view, page);
    const pageView = this.pageViews.get(view);
    if (isNew || change.what === "everything") pageView?.show(page);
    else pageView?.change(change);
  }

  private jump(place: number): void {
    this.stop();
    this.stage.goTo(place);
    this.stamp += 1;
  }

  private start(): void {
    if (this.stage.place === this.stage.moments.length) this.stage.goTo(0);
    this.tick();
  }

  private tick(): void {
    const { stage } = this;
    const [next, before] = [stage.moments[stage.place], stage.moments[stage.place - 1]];
    if (!next) return this.stop();
    const timer = setTimeout(() => {
      stage.goTo(stage.place + 1);
      this.tick();
    }, pauseBefore(next, before) / this.speed);
    this.play = { how: "playing", timer };
    this.stamp += 1;
  }

  private stop(): void {
    if (this.play.how === "playing") clearTimeout(this.play.timer);
    this.play = { how: "stopped" };
  }

  private readonly slid = (event: Event): void => this.jump(Number((event.target as HTMLInputElement).value));

  private readonly chooseSpeed = (event: Event): void => {
    this.speed = Number((event.target as HTMLSelectElement).value);
  };

  private readonly goLive = (): void => {
    this.stop();
    this.play = { how: "live" };
    this.stage.goTo(this.stage.moments.length);
    this.stamp += 1;
  };
}

customElements.define("mp-theatre", TheatreElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-theatre": TheatreElement;
  }
}
