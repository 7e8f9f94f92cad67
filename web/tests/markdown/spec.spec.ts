// The project's own examples, and those of CommonMark and GFM if the corpus is there: splitting does not change the result, and the result follows the specification
// where our link policy allows the comparison.

import { expect, test, type Page } from "@playwright/test";
import { findSpecDifferences, findSplitDifferences, hasRawHtml, findStrayLetters } from "./in-page.ts";
import { serve, type Site } from "./site.ts";
import { exampleSets } from "./texts.ts";

const BARE_URL = "a bare URL is a link, as in GFM";
const URL_END = "the parser ends a bare URL differently from GFM";

const FORMULA = "escaped brackets enclose a formula";
const TASK_DEFECT = "defect: a task whose text begins with markup is no task";
const LINK_DEFECT = "defect: after an escaped bracket in its text, the address of a link is shown until the link is complete";

/** Examples that differ from the specification, on purpose or by a known defect. */
const DIFFERENT: Record<string, Record<number, string>> = {
  "escapes-and-entities.json": { 5: FORMULA },
  "task-lists.json": { 7: TASK_DEFECT },
  "commonmark-spec.json": { 610: BARE_URL, 613: BARE_URL, 614: BARE_URL },
  "gfm-spec.json": { 616: BARE_URL, 619: BARE_URL, 620: BARE_URL, 625: URL_END, 626: URL_END, 630: URL_END },
};

/** Examples that show a letter that is later removed. */
const STRAY: Record<string, Record<number, string>> = { "links.json": { 13: LINK_DEFECT } };

const numbersOf = (known: Record<number, string> = {}) => Object.keys(known).map(Number);

let site: Site;
let page: Page;

test.beforeAll(async ({ browser }) => {
  test.setTimeout(600_000);
  site = await serve(null);
  page = await browser.newPage();
  await page.goto(site.url);
  await page.waitForFunction(() => "harness" in window);
});

test.afterAll(async () => {
  await page?.close();
  await site?.close();
});

test("the project has examples of its own", () => {
  expect(exampleSets().flatMap(({ examples }) => examples).length).toBeGreaterThanOrEqual(400);
});

for (const { name: file, examples } of exampleSets()) {
  test(`${file}: by characters and in pieces, the DOM equals that of the whole`, async () => {
    const wrong = await page.evaluate(findSplitDifferences, examples);
    console.log(`${file}: ${examples.length - wrong.length} of ${examples.length} equal however they are split`);
    expect(wrong).toEqual([]);
  });

  test(`${file}: no letter is shown that is later removed`, async () => {
    // A reference is text before its definition arrives, and a multi-line definition is a paragraph at first.
    const meaningful = examples.filter(({ markdown }) => !markdown.includes("]:"));
    const wrong = await page.evaluate(findStrayLetters, meaningful);
    console.log(`${file}: ${meaningful.length - wrong.length} of ${meaningful.length} show nothing that is later removed`);
    const known = numbersOf(STRAY[file]);
    expect(wrong.filter(({ example }) => !known.includes(example))).toEqual([]);
    expect(wrong.map(({ example }) => example)).toEqual(known);
  });

  test(`${file}: the whole follows the specification`, async () => {
    const compared = examples.filter((example) => !hasRawHtml(example));
    const wrong = await page.evaluate(findSpecDifferences, compared);
    console.log(`${file}: ${compared.length - wrong.length} of ${compared.length} comparable examples as specified`);
    const known = numbersOf(DIFFERENT[file]);
    expect(wrong.filter(({ example }) => !known.includes(example))).toEqual([]);
    expect(wrong.map(({ example }) => example)).toEqual(known);
  });
}
