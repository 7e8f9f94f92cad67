// Every example of CommonMark and GFM: splitting does not change the result, and the result follows the specification
// where our link policy allows the comparison.

import { expect, test, type Page } from "@playwright/test";
import { readCorpus } from "./corpus.ts";
import { findSpecDifferences, findSplitDifferences, hasRawHtml, findStrayLetters, type Example } from "./in-page.ts";
import { serve, type Site } from "./site.ts";

const BARE_URL = "a bare URL is a link, as in GFM";
const URL_END = "the parser ends a bare URL differently from GFM";

/** Examples that differ from the specification on purpose. */
const DIFFERENT: Record<string, Record<number, string>> = {
  "commonmark-spec.json": { 610: BARE_URL, 613: BARE_URL, 614: BARE_URL },
  "gfm-spec.json": { 616: BARE_URL, 619: BARE_URL, 620: BARE_URL, 625: URL_END, 626: URL_END, 630: URL_END },
};

let site: Site;
let page: Page;

test.beforeAll(async ({ browser }) => {
  test.setTimeout(240_000);
  site = await serve(null);
  page = await browser.newPage();
  await page.goto(site.url);
  await page.waitForFunction(() => "harness" in window);
});

test.afterAll(async () => {
  await page?.close();
  await site?.close();
});

for (const file of Object.keys(DIFFERENT)) {
  test(`${file}: by characters and in pieces, the DOM equals that of the whole`, async () => {
    const examples = readCorpus<Example>(`markdown/${file}`);
    const wrong = await page.evaluate(findSplitDifferences, examples);
    console.log(`${file}: ${examples.length - wrong.length} of ${examples.length} equal however they are split`);
    expect(wrong).toEqual([]);
  });

  test(`${file}: no letter is shown that is later removed`, async () => {
    const examples = readCorpus<Example>(`markdown/${file}`);
    // A reference is text before its definition arrives, and a multi-line definition is a paragraph at first.
    const meaningful = examples.filter(({ markdown }) => !markdown.includes("]:"));
    const wrong = await page.evaluate(findStrayLetters, meaningful);
    console.log(`${file}: ${meaningful.length - wrong.length} of ${meaningful.length} show nothing that is later removed`);
    expect(wrong).toEqual([]);
  });

  test(`${file}: the whole follows the specification`, async () => {
    const examples = readCorpus<Example>(`markdown/${file}`);
    const compared = examples.filter((example) => !hasRawHtml(example));
    const wrong = await page.evaluate(findSpecDifferences, compared);
    console.log(`${file}: ${compared.length - wrong.length} of ${compared.length} comparable examples as specified`);
    const known = Object.keys(DIFFERENT[file] ?? {}).map(Number);
    expect(wrong.filter(({ example }) => !known.includes(example))).toEqual([]);
    expect(wrong.map(({ example }) => example)).toEqual(known);
  });
}
