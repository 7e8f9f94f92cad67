// Hostile texts: with the renderer alone, on a page without a content security policy; and with the policy alone, with
// unsanitised payloads. Nothing may run, and no request may go to another origin.

import { expect, test, type Browser, type Page } from "@playwright/test";
import { ALLOWED_ELEMENTS, attack, attackUnsanitised, type Verdict } from "./attack.ts";
import { POLICY, serve, type Site } from "./site.ts";
import { corpusPayloads, ownPayloads, samplePayloads } from "./texts.ts";

const BATCH = 400;

interface Watched {
  page: Page;
  site: Site;
  /** Requests to another origin, and dialogs. */
  incidents: string[];
}

test.describe.configure({ timeout: 900_000 });

async function open(browser: Browser, policy: typeof POLICY | null): Promise<Watched> {
  const site = await serve(policy);
  const page = await browser.newPage();
  const incidents: string[] = [];
  page.on("dialog", (dialog) => {
    incidents.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  // Requests blocked by the policy are not routed.
  await page.route((url) => !url.href.startsWith(site.url), (route) => {
    incidents.push(`request: ${route.request().url()}`);
    return route.abort();
  });
  await page.goto(site.url);
  await page.waitForFunction(() => "harness" in window);
  return { page, site, incidents };
}

async function inBatches(texts: string[], run: (batch: string[]) => Promise<Verdict>): Promise<Verdict> {
  const total: Verdict = { shown: 0, drawn: 0, executions: [], findings: [] };
  for (let at = 0; at < texts.length; at += BATCH) {
    const verdict = await run(texts.slice(at, at + BATCH));
    total.shown += verdict.shown;
    total.drawn += verdict.drawn;
    total.executions.push(...verdict.executions);
    total.findings.push(...verdict.findings);
  }
  return total;
}

function expectHarmless(name: string, verdict: Verdict, incidents: string[]): void {
  console.log(`${name}: ${verdict.shown} texts, ${verdict.executions.length} executions, ${verdict.findings.length} findings, ${incidents.length} foreign requests or dialogs`);
  expect({ ...verdict, incidents }).toMatchObject({ executions: [], findings: [], incidents: [] });
}

const oneLine = (payload: string): string => payload.replace(/\s+/g, " ");
const every = (nth: number) => (_: string, index: number): boolean => index % nth === 0;

/** The payload in every syntactic position. */
function everywhere(payload: string): string {
  const line = oneLine(payload);
  return [
    `\`${line}\` and [${line}](https://127.0.0.1/) and **${line}**`,
    `[a](${line}) [b](<${line}>) <${line}> [c] [d](javascript:${line}) [e](data:text/html,${line}) [f](vbscript:${line})`,
    `![${line}](${line} "${line}") ![x](data:image/svg+xml,${line}) [g](JaVaScRiPt&colon;${line}) [h](java&#10;script:${line})`,
    `| a | b |\n|---|---|\n| ${line} | _${line}_ |`,
    `- [ ] ${line}\n- # ${line}`,
    `> ${payload}`,
    `\`\`\`${line}\n${payload}\n\`\`\``,
    `[c]: ${line}`,
  ].join("\n\n");
}

/** Piece size (0: whole), and which share of the corpus (every `nth`). */
const RUNS: { name: string; place: (payload: string) => string; size: number; nth: number }[] = [
  { name: "alone, whole", place: (payload) => payload, size: 0, nth: 1 },
  { name: "alone, in pieces of 17", place: (payload) => payload, size: 17, nth: 1 },
  { name: "alone, in pieces of 61", place: (payload) => payload, size: 61, nth: 4 },
  { name: "alone, by characters", place: (payload) => payload, size: 1, nth: 48 },
  { name: "everywhere else, whole", place: everywhere, size: 0, nth: 1 },
  { name: "everywhere else, in pieces of 97", place: everywhere, size: 97, nth: 24 },
];

test.describe("the renderer alone", () => {
  let watched: Watched;
  test.beforeAll(async ({ browser }) => {
    watched = await open(browser, null);
  });
  test.afterAll(async () => {
    await watched?.page.close();
    await watched?.site.close();
  });

  for (const { name, place, size, nth } of RUNS) {
    test(name, async () => {
      const texts = samplePayloads(nth).map(place);
      const run = (batch: string[]): Promise<Verdict> =>
        watched.page.evaluate(attack, { texts: batch, size, allowed: ALLOWED_ELEMENTS });
      expectHarmless(name, await inBatches(texts, run), watched.incidents);
    });
  }

  test("as a formula", async () => {
    await loadFormulas(watched.page);
    const texts = samplePayloads(16).map((payload) => `$$\n${payload}\n$$\n\nand \\(${oneLine(payload)}\\) and $\\text{${oneLine(payload)}}$ \\(\\href{javascript:alert(1)}{x}\\) \\(\\url{${oneLine(payload)}}\\)`);
    const run = (batch: string[]): Promise<Verdict> =>
      watched.page.evaluate(attack, { texts: batch, size: 0, allowed: ALLOWED_ELEMENTS });
    expectHarmless("as a formula", await inBatches(texts, run), watched.incidents);
  });

  test("as a diagram", async () => {
    // Payloads with attributes are refused before drawing; others get further.
    const plain = (payloads: string[]) => payloads.filter((payload) => !/=|url|\\|&#/i.test(payload));
    const some = (payloads: string[], count: number) => payloads.filter(every(Math.max(1, Math.ceil(payloads.length / count))));
    const sample = [ownPayloads(), corpusPayloads()].flatMap((payloads) => [...some(payloads, 15), ...some(plain(payloads), 40)]);
    const sources = sample.flatMap((payload) => [payload, `flowchart LR\n  A["${oneLine(payload)}"] --> B`, `sequenceDiagram\n  A->>B: ${oneLine(payload)}`]);
    const texts = sources.map((source) => `\`\`\`mermaid\n${source}\n\`\`\`\n`);
    const run = (batch: string[]): Promise<Verdict> =>
      watched.page.evaluate(attack, { texts: batch, size: 0, allowed: ALLOWED_ELEMENTS });
    const verdict = await inBatches(texts, run);
    console.log(`as a diagram: ${verdict.drawn} drawn, the others refused or not a diagram`);
    expectHarmless("as a diagram", verdict, watched.incidents);
    expect(verdict.drawn).toBeGreaterThan(10);
  });
});

test("without the renderer and the policy, what runs is noticed", async ({ browser }) => {
  const { page, site } = await open(browser, null);
  const running = ["<img src=x onerror=alert(1)>", "<audio src=x onerror=print()>", "<details open ontoggle=pwned()>", "<iframe srcdoc='<script>parent.prompt()</script>'>"];
  const { executions } = await page.evaluate(attackUnsanitised, running);
  await page.close();
  await site.close();
  expect(executions.sort()).toEqual(["alert", "marker", "print", "prompt"]);
});

test.describe("the policy alone", () => {
  const leaves = (payload: string): boolean => /http-equiv\s*=\s*["']?refresh/i.test(payload);

  test("unsanitised payloads run nothing", async ({ browser }) => {
    const { page, site, incidents } = await open(browser, POLICY);
    const staying = samplePayloads(1).filter((payload) => !leaves(payload));
    const verdict = await inBatches(staying, (batch) => page.evaluate(attackUnsanitised, batch));
    await page.close();
    await site.close();
    expectHarmless("the policy alone", verdict, incidents);
  });

  test("payloads that navigate, which no policy can forbid, run nothing", async ({ browser }) => {
    const leaving = samplePayloads(1).filter(leaves);
    expect(leaving.length).toBeGreaterThan(0);
    const incidents: string[] = [];
    for (const payload of leaving) {
      // A page for each: a refresh that is still due would interrupt the next one.
      const { page, site, incidents: found } = await open(browser, POLICY);
      // A payload that navigates ends the evaluation.
      await page.evaluate(attackUnsanitised, [payload]).catch(() => undefined);
      // Its refresh may win over this navigation; either way a page has loaded after it.
      await page.goto(site.url).catch(() => page.waitForLoadState());
      await page.close();
      await site.close();
      incidents.push(...found);
    }
    console.log(`the policy alone: ${leaving.length} payloads with a refresh, ${incidents.length} foreign requests or dialogs`);
    expect(incidents).toEqual([]);
  });
});

async function loadFormulas(page: Page): Promise<void> {
  await page.evaluate(() => {
    const { stream } = window.harness.open();
    stream.append("$x$");
    stream.finish();
  });
  await page.waitForSelector("math");
  await page.evaluate(() => document.body.replaceChildren());
}
