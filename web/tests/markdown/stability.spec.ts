// DOM stability: only the tail of a growing text changes.

import { expect, test, type Page } from "@playwright/test";
import { serve, type Site } from "./site.ts";

let site: Site;
let page: Page;

test.beforeAll(async ({ browser }) => {
  test.setTimeout(600_000);
  site = await serve(null);
  page = await browser.newPage();
});

// A fresh page has not loaded any enhancements yet.
test.beforeEach(async () => {
  await page.goto(site.url);
  await page.waitForFunction(() => "harness" in window);
});

test.afterAll(async () => {
  await page?.close();
  await site?.close();
});

interface Movement {
  updates: number;
  /** Mutations in blocks other than the last two. */
  touchedEarlier: string[];
  removedNodes: number;
  removedElements: string[];
  /** Elements that were removed and added again. */
  returned: number;
  isExact: boolean;
}

/** Streams a text without pauses, so that only the stream changes the page. */
function recordMovement({ text, size }: { text: string; size: number }): Movement {
  const { host, stream } = window.harness.openUnthrottled();
  const observer = new MutationObserver(() => undefined);
  observer.observe(host, { childList: true, characterData: true, attributes: true, subtree: true });
  const movement: Movement = { updates: 0, touchedEarlier: [], removedNodes: 0, removedElements: [], returned: 0, isExact: false };
  const removed = new Set<Node>();
  const blocksNow = (): Element[] => [...host.querySelectorAll(".md-part > *")];
  let blocks: Element[] = [];
  const note = (record: MutationRecord): void => {
    const index = blocks.findIndex((block) => block.contains(record.target));
    if (index >= 0 && index < blocks.length - 2) movement.touchedEarlier.push((record.target.textContent ?? "").slice(0, 60));
    for (const node of record.removedNodes) {
      removed.add(node);
      movement.removedNodes++;
      if (node instanceof Element) movement.removedElements.push(node.outerHTML.slice(0, 80));
    }
    for (const node of record.addedNodes) if (removed.has(node)) movement.returned++;
  };
  for (const piece of window.harness.splitIntoPieces(text, size)) {
    blocks = blocksNow();
    stream.append(piece);
    movement.updates++;
    observer.takeRecords().forEach(note);
  }
  stream.finish();
  observer.takeRecords().forEach(note);
  movement.isExact = host.innerHTML === window.harness.htmlWithoutStreaming(text);
  stream.dispose();
  host.remove();
  return movement;
}

for (const [size, characters] of [[1, 6_000], [3, 12_000], [24, 30_000], [200, 30_000]] as const) {
  test(`a long varied answer in pieces of ${size}`, async () => {
    const text = await page.evaluate((length) => window.harness.generateAnswer(length), characters);
    const movement = await page.evaluate(recordMovement, { text, size });
    console.log(`pieces of ${size}: ${movement.updates} updates, ${movement.removedNodes} nodes removed, ${movement.removedElements.length} of them elements`);
    expect(movement.touchedEarlier).toEqual([]);
    expect(movement.returned).toBe(0);
    expect(movement.removedElements).toEqual([]);
    expect(movement.isExact).toBe(true);
  });
}

test("formulas do not flash as source once the typesetter is loaded", async () => {
  await page.evaluate(() => window.harness.open().stream.append("$x$\n\n"));
  await page.waitForSelector("math");
  const text = await page.evaluate(() => window.harness.generateAnswer(30_000));
  const movement = await page.evaluate(recordMovement, { text, size: 24 });
  expect(movement.touchedEarlier).toEqual([]);
  expect(movement.removedElements.filter((html) => !html.startsWith("<code>"))).toEqual([]);
  console.log(`with formulas: ${movement.removedElements.length} sources of display formulas were replaced`);
});

test("an open fence only appends to the text of its code", async () => {
  const kinds = await page.evaluate(() => {
    const { host, stream } = window.harness.openUnthrottled();
    stream.append("Look:\n\n```js\nlet a = 1;\n");
    const observer = new MutationObserver(() => undefined);
    observer.observe(host, { childList: true, characterData: true, attributes: true, subtree: true });
    const code = host.querySelector("code")?.firstChild;
    for (let line = 0; line < 500; line++) for (const piece of [`let x${line}`, " = `", "``", "`;", "\n"]) stream.append(piece);
    const records = observer.takeRecords();
    stream.dispose();
    return {
      kinds: [...new Set(records.map(({ type }) => type))],
      isOneNode: records.every(({ target }) => target === code),
      text: code?.textContent?.slice(0, 40),
    };
  });
  expect(kinds).toEqual({ kinds: ["characterData"], isOneNode: true, text: "let a = 1;\nlet x0 = ````;\nlet x1 = ````;" });
});

test("a selection in the growing paragraph is kept", async () => {
  const selected = await page.evaluate(() => {
    const { host, stream } = window.harness.openUnthrottled();
    stream.append("Some words that");
    const node = host.querySelector("p")?.firstChild as Text;
    getSelection()?.setBaseAndExtent(node, 5, node, 10);
    stream.append(" go on and on, **and on**, and");
    stream.append(" on.\n\nNext.");
    const text = getSelection()?.toString();
    stream.dispose();
    host.remove();
    return text;
  });
  expect(selected).toBe("words");
});

const LONG: Record<string, string> = {
  "a list of 1,000 items": "- some **words** in an item\n".repeat(1000),
  "a loose list of 1,000 items": "1. some **words** in an item\n\n".repeat(1000),
  "a list that becomes loose late": `${"- some words\n".repeat(300)}\n- more\n${"- words\n".repeat(40)}`,
  "a table of 1,000 rows": `| a | b |\n|---|--:|\n${"| some words | **2** |\n".repeat(1000)}`,
  "a fence of 3,000 lines": `\`\`\`js\n${"const value = compute(a, b);\n".repeat(3000)}\`\`\`\n`,
};

for (const [name, text] of Object.entries(LONG)) {
  test(`${name}: the cost per piece is constant`, async () => {
    const { first, last, isExact } = await page.evaluate(cost, { text, size: 40 });
    console.log(`${name}: ${first.toFixed(3)} ms per piece in the first fifth, ${last.toFixed(3)} ms in the last`);
    expect(isExact).toBe(true);
  });
}

function cost({ text, size }: { text: string; size: number }): { first: number; last: number; isExact: boolean } {
  const { host, stream } = window.harness.openUnthrottled();
  const times: number[] = [];
  for (const piece of window.harness.splitIntoPieces(text, size)) {
    const start = performance.now();
    stream.append(piece);
    times.push(performance.now() - start);
  }
  stream.finish();
  const isExact = host.innerHTML === window.harness.htmlWithoutStreaming(text);
  stream.dispose();
  host.remove();
  const fifth = Math.floor(times.length / 5);
  const mean = (part: number[]): number => part.reduce((sum, time) => sum + time, 0) / part.length;
  return { first: mean(times.slice(0, fifth)), last: mean(times.slice(-fifth)), isExact };
}
