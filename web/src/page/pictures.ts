// Pictures and sources that belong to an item.

import type { Citation, Item, Picture } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import { until } from "lit/directives/until.js";
import type { Around } from "./around.ts";
import { hostOf } from "./hosts.ts";

export function pictures(item: Item, around: Around): TemplateResult | typeof nothing {
  const { images = [] } = item;
  return images.length ? html`<div class="pictures">${images.map((image) => picture(image, around))}</div>` : nothing;
}

function picture({ ref }: Picture, around: Around): unknown {
  const place = around.picture(ref);
  if (!place) return remote(ref, around);
  return typeof place === "string" ? local(place, around) : until(whenThere(place, around), html`<span class="picture waiting"></span>`);
}

function local(src: string, around: Around): TemplateResult {
  const { words } = around;
  return html`<button type="button" class="picture" aria-label=${words.openLarge} @click=${() => around.openLarge(src, words.picture)}>
    <img src=${src} alt=${words.picture} loading="lazy" />
  </button>`;
}

/** What is drawn again waits for the same promise again, and so stays as it is. */
const waited = new WeakMap<Promise<string>, Promise<TemplateResult | string>>();

function whenThere(place: Promise<string>, around: Around): Promise<TemplateResult | string> {
  const shown = waited.get(place) ?? place.then((src) => local(src, around)).catch(() => around.words.picture);
  waited.set(place, shown);
  return shown;
}

function remote(ref: string, around: Around): TemplateResult | string {
  const host = hostOf(ref);
  if (!host) return around.words.picture;
  const show = ({ currentTarget }: Event) =>
    (currentTarget as Element).replaceWith(around.remotePicture(ref, around.words.picture));
  return html`<button type="button" class="md-image" @click=${show}>${around.words.showImage(host)}</button>`;
}

export function sources(item: Item, around: Around): TemplateResult | typeof nothing {
  const { citations = [] } = item;
  if (!citations.length) return nothing;
  return html`<details class="sources">
    <summary>${around.words.sources} (${citations.length})</summary>
    <ol>${citations.map(source)}</ol>
  </details>`;
}

function source({ url, title, quote }: Citation): TemplateResult {
  const host = hostOf(url);
  const name = title ?? url ?? "";
  return html`<li>
    ${host ? html`<a href=${url} target="_blank" rel="noopener noreferrer nofollow">${name}</a> <span class="soft">${host}</span>` : name}
    ${quote ? html`<q>${quote}</q>` : nothing}
  </li>`;
}
