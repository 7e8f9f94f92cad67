// Images and sources of an item.

import type { Citation, Item, ImageRef } from "@millpond/client";
import { html, nothing, type TemplateResult } from "lit";
import { until } from "lit/directives/until.js";
import type { ItemContext } from "./item-context.ts";
import { webHost } from "./web-host.ts";

export function renderImages(item: Item, context: ItemContext): TemplateResult | typeof nothing {
  const { images = [] } = item;
  return images.length ? html`<div class="images">${images.map((image) => renderImage(image, context))}</div>` : nothing;
}

function renderImage({ ref }: ImageRef, context: ItemContext): unknown {
  const url = context.imageUrl(ref);
  if (!url) return remoteImageButton(ref, context);
  return typeof url === "string" ? sessionImage(url, context) : until(imageWhenLoaded(url, context), html`<span class="image loading"></span>`);
}

function sessionImage(src: string, context: ItemContext): TemplateResult {
  const { strings } = context;
  return html`<button type="button" class="image" aria-label=${strings.enlargeImage} @click=${() => context.enlargeImage(src, strings.image)}>
    <img src=${src} alt=${strings.image} loading="lazy" />
  </button>`;
}

/** One template promise per URL promise, so that a re-render does not flash. */
const pendingTemplates = new WeakMap<Promise<string>, Promise<TemplateResult | string>>();

function imageWhenLoaded(url: Promise<string>, context: ItemContext): Promise<TemplateResult | string> {
  const template = pendingTemplates.get(url) ?? url.then((src) => sessionImage(src, context)).catch(() => context.strings.image);
  pendingTemplates.set(url, template);
  return template;
}

function remoteImageButton(ref: string, context: ItemContext): TemplateResult | string {
  const host = webHost(ref);
  if (!host) return context.strings.image;
  const show = ({ currentTarget }: Event) =>
    (currentTarget as Element).replaceWith(context.createRemoteImage(ref, context.strings.image));
  return html`<button type="button" class="md-show-image" @click=${show}>${context.strings.showImage(host)}</button>`;
}

export function renderSources(item: Item, context: ItemContext): TemplateResult | typeof nothing {
  const { citations = [] } = item;
  if (!citations.length) return nothing;
  return html`<details class="sources">
    <summary>${context.strings.sources} (${citations.length})</summary>
    <ol>${citations.map(renderSource)}</ol>
  </details>`;
}

function renderSource({ url, title, quote }: Citation): TemplateResult {
  const host = webHost(url);
  const name = title ?? url ?? "";
  return html`<li>
    ${host ? html`<a href=${url} target="_blank" rel="noopener noreferrer nofollow">${name}</a> <span class="muted">${host}</span>` : name}
    ${quote ? html`<q>${quote}</q>` : nothing}
  </li>`;
}
