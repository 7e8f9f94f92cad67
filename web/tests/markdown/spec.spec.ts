// Every example of CommonMark and GFM: however it is cut, the result is that of the whole text; and the whole text is
// what the specification says, where our policy lets the two be compared.

import { expect, test, type Page } from "@playwright/test";
import { readCorpus } from "./corpus.ts";
import { compareWithSpecification, cutInManyWays, hasRawHtml, strayLetters, type Example } from "./expected.ts";
import { serve, type Site } from "./site.ts";

const BARE = "a bare address is a link, as in GFM";
const OURS = "the parser ends a bare address differently from GFM";

/** Examples that read differently here on purpose. No example is excepted from being the same however it is cut. */
const DIFFERENT: Record<string, Record<number, string>> = {
  "commonmark-spec.json": { 610: BARE, 613: BARE, 614: BARE },
  "gfm-spec.json": { 616: BARE, 619: BARE, 620: BARE, 625: OURS, 626: OURS, 630: OURS },
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
  test(`${file}: by characters and in pieces, the DOM is that of the whole`, async () => {
    const examples = readCorpus<Example>(`markdown/${file}`);
    const wrong = await page.evaluate(cutInManyWays, examples);
    console.log(`${file}: ${examples.length - wrong.length} of ${examples.length} equal however they are cut`);
    expect(wrong).toEqual([]);
  });

  test(`${file}: no letter is shown on the way that the whole does not show`, async () => {
    const examples = readCorpus<Example>(`markdown/${file}`);
    // Before its definition has come, a reference is text; and a definition of many lines is a paragraph at first.
    const meaningful = examples.filter(({ markdown }) => !markdown.includes("]:"));
    const wrong = await page.evaluate(strayLetters, meaningful);
    console.log(`${file}: ${meaningful.length - wrong.length} of ${meaningful.length} show nothing they take back`);
    expect(wrong).toEqual([]);
  });

  test(`${file}: the whole is what the specification says`, async () => {
    const examples = readCorpus<Example>(`markdown/${file}`);
    const compared = examples.filter((example) => !hasRawHtml(example));
    const wrong = await page.evaluate(compareWithSpecification, compared);
    console.log(`${file}: ${compared.length - wrong.length} of ${compared.length} comparable examples as specified`);
    const known = Object.keys(DIFFERENT[file] ?? {}).map(Number);
    expect(wrong.filter(({ example }) => !known.includes(example))).toEqual([]);
    expect(wrong.map(({ example }) => example)).toEqual(known);
  });
}
