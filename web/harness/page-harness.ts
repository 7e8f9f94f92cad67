// Test page: shows pages of the client from patches, without a gateway. Exposes itself on `window.pageHarness`.

import "../src/style.css";
import { Page, type Patch, type Snapshot } from "@millpond/client";
import { statusText } from "../src/chat/status.ts";
import { en } from "../src/i18n/en.ts";
import type { ItemContext } from "../src/page/item-context.ts";
import { PageView } from "../src/page/page-view.ts";

/** An item as it is shown. */
export interface ShownItem {
  key: number;
  kind: string;
  state: string;
  text: string;
}

const context: ItemContext = {
  strings: en,
  markdown: {
    strings: { copy: en.copy, copied: en.copied, showImage: en.showImage, diagram: en.diagram },
    createRemoteImage: (url) => document.createTextNode(url) as unknown as Element,
  },
  imageUrl: () => undefined,
  createRemoteImage: () => document.createElement("span"),
  enlargeImage: () => {},
  copyText: () => {},
  hasMessage: () => false,
};

/** Controls, which are no content of an item, images, which have no text, and texts for screen readers. */
const NO_CONTENT = ".visually-hidden, .item-actions, .images, button";

let page = new Page();
let view: PageView | undefined;

function replacePage(name: string, shown: Page): void {
  view?.dispose();
  document.body.innerHTML = `<div class="scroller"><div class="content"><div class="page view-${name}"></div></div></div>`;
  const [scroller, host] = [document.querySelector(".scroller"), document.querySelector<HTMLElement>(".page")];
  if (!scroller || !host) throw new Error("the page has no elements");
  page = shown;
  view = new PageView(host, context, () => {}, scroller);
  view.show(page);
}

/** Text of the nodes that can be seen: not of closed details, hidden elements and controls. */
function visibleText(element: Element): string {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const parts: string[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent?.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !parent.closest(NO_CONTENT)) parts.push(node.textContent ?? "");
  }
  return parts.join("");
}

function shownItems(): ShownItem[] {
  return [...document.querySelectorAll<HTMLElement>(".page .item")].map((element) => {
    const [, kind = ""] = /kind-(\w+)/.exec(element.className) ?? [];
    const [, state = ""] = /state-(\w+)/.exec(element.className) ?? [];
    return { key: Number(element.dataset["key"]), kind, state, text: visibleText(element) };
  });
}

export const pageHarness = {
  /** Shows an empty page. */
  open: (name: string) => replacePage(name, new Page()),
  /** Shows a page that was received whole. */
  openSnapshot: (name: string, snapshot: string) => replacePage(name, Page.fromSnapshot(JSON.parse(snapshot) as Snapshot)),
  apply(patches: readonly string[]): void {
    for (const patch of patches) view?.applyChange(page.apply(JSON.parse(patch) as Patch));
  },
  /** The items once they are drawn; growing text may be drawn later. */
  async read(): Promise<{ items: ShownItem[]; status: string }> {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    return { items: shownItems(), status: statusText(page, en) };
  },
};

declare global {
  interface Window {
    pageHarness: typeof pageHarness;
  }
}

window.pageHarness = pageHarness;
