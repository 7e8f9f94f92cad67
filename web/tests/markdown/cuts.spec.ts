// The result does not depend on how a text is split: past failures, and seeded random texts.

import { expect, test, type Page } from "@playwright/test";
import { findSplitDifferences } from "./in-page.ts";
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

const PAST_FAILURES: Record<string, string> = {
  "white space at the end of an open fence": "````\ncode\n\t",
  "a fence that begins with what looks like a table": "```js\n|a|b|\n|-|-|\n| x |\n",
  "a fence line that is the heading of a table": "~~~||h\n-|-|-",
  "a definition in a list whose title goes on outside it": "1. [o]:e\n(\n)",
  "an ordered list continued after a blank line": "1. a\n\n2. b\n\n3",
  "a formula that a blank line shows to be none": "text\n$$\n- a\n\n- b\n$$\n",
  "a formula with list markers in it": "text\n$$\na\n- b\n+ c\n$$\n",
  "a formula whose last line has words after it": "a\n$$\nx $$ y\n",
  "a line end cut in two": "a\r\nb\r\rc\r",
  "a title below its definition": "[a]: /b\n'c\nd'\n\n[a]\n",
  "thousands of definitions": Array.from({ length: 300 }, (_, index) => `[l${index}]: https://a.example/${index}`).join("\n") + "\n\n[l7] [l299]\n",
};

test("past failures", async () => {
  const examples = Object.values(PAST_FAILURES).map((markdown, example) => ({ example, markdown, html: "" }));
  expect(await page.evaluate(findSplitDifferences, examples)).toEqual([]);
});

test("random texts", async () => {
  const count = Number(process.env["MILLPOND_CUTS"] ?? 120);
  const examples = Array.from({ length: count }, (_, example) => ({ example, markdown: randomText(example + 1), html: "" }));
  const wrong = await page.evaluate(findSplitDifferences, examples);
  console.log(`random texts: ${count - wrong.length} of ${count} equal however they are split`);
  expect(wrong.map(({ example }) => examples[example]?.markdown)).toEqual([]);
});

const PLAIN_AND_SYNTAX = [
  "See www.x.org and example.com, or example.net. It is so.Yes. And v1.2 of it",
  "2024. It was a year; 3 - 2 is 1. Right? \"Yes\", 100% 'so'",
  "Title-\n- x y\n- z 1. a b\n\n1. one two\n2. two 3. x",
  "> quoted words go on and on\n> and on 1. so\n\n## A heading of words  and more",
  "a &amp; b &am c; d &lt; e, 2 * 3 * 4 words _so_ it - goes -- on ... and",
];

test("text on the plain-text fast path equals parsed text at every step", async () => {
  const wrong = await page.evaluate((texts) => {
    const { openUnthrottled } = window.harness;
    return texts.flatMap((text) => {
      const growing = openUnthrottled();
      const found: string[] = [];
      for (let end = 1; end <= text.length; end++) {
        growing.stream.append(text[end - 1] ?? "");
        const fresh = openUnthrottled();
        fresh.stream.append(text.slice(0, end));
        if (growing.host.innerHTML !== fresh.host.innerHTML) found.push(`${growing.host.innerHTML} is not ${fresh.host.innerHTML}`);
        fresh.stream.dispose();
        fresh.host.remove();
      }
      growing.stream.dispose();
      growing.host.remove();
      return found;
    });
  }, PLAIN_AND_SYNTAX);
  expect(wrong).toEqual([]);
});

const BITS = [
  "- ", "* ", "1. ", "2. ", "10) ", "> ", ">", "# ", "---", "===", "* * *", "- - -", "```", "~~~", "````", "```js", "    ",
  "  ", "\t", " ", "\n", "\n", "\n", "\n\n", "\n\n", "a", "b c", "word", "| a | b |", "|---|---|", "| x |", "a | b", "-|-",
  "[foo]", "[foo]: /url", "[foo]: http://x.y", "'title'", "'tit", "le'", "[bar][foo]", "![i](http://q/w.png)", "**", "*",
  "_", "`", "~~", "$", "$$", "\\[", "\\]", "\\(", "\\)", "x^2", "$5", "<http://a.b>", "http://a.b/c", "www.x.org", "a@b.co",
  "&amp;", "\\", "[ ] ", "[x] ", "<div>", "!", "(", ")", "é", "😀", "\r\n", "\r", "2", "3)", "-", "=", ":", "0",
];
const ITEMS = ["x", "y **z**", "[foo]", "", "```\n", "# h", "> q", "[foo]: /late", "$$"];
const ITEM_ENDS = ["\n", "\n", "\n", "\n", "\n\n", "\n  more\n", "\nlazy\n", "\n\n  paragraph\n", "\n  - sub\n"];
const CELLS = ["x", "**y", "`z|`", "", "a | b | c", "\\|"];

function randomText(seed: number): string {
  let state = seed * 2_654_435_761;
  const random = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
  const pick = (values: string[]): string => values[Math.floor(random() * values.length)] ?? "";
  const longBlock = (): string => {
    const rows = 10 + Math.floor(random() * 25);
    if (random() < 0.2) return `|a|b|\n|-|-|\n${Array.from({ length: rows }, () => `| ${pick(CELLS)} |\n`).join("")}`;
    const marker = pick(["- ", "1. ", "* ", "3) ", " - "]);
    const ends = ITEM_ENDS.slice(0, random() < 0.6 ? 4 : 9);
    return Array.from({ length: rows }, () => marker + pick(ITEMS) + pick(ends)).join("");
  };
  const length = 1 + Math.floor(random() * 25);
  return Array.from({ length }, () => (random() < 0.05 ? `\n${longBlock()}` : pick(BITS))).join("");
}
