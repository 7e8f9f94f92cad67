// The browser shows what the engine's page says: for every item its kind, place, state and visible text, live at
// every tenth patch and opened afterwards. Pages come from the `.patches` files of the engine, without a gateway.
// A sample of the fixtures; all of them with SCREENS=all (`scripts/campaign.sh screens`).

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Page as ClientPage } from "../../packages/client/src/page.ts";
import type { Item, Patch } from "../../packages/client/src/protocol.ts";
import { expect, test, type Page } from "@playwright/test";
import type { ShownItem } from "../../harness/page-harness.ts";
import { serve, type Site } from "../markdown/site.ts";
import { expectedText, lettersOf, spaceless } from "./expected-text.ts";

const FIXTURES = join(import.meta.dirname, "../../../fixtures");
const VIEWS = ["latest", "steps", "bubbles", "transcript", "sentences"];
/** Every so many patches a live page is compared. */
const COMPARED_EVERY = 10;
/** Without SCREENS=all one file of so many. */
const SAMPLED_EVERY = 12;

let site: Site;
let page: Page;

test.beforeAll(async ({ browser }) => {
  test.setTimeout(600_000);
  site = await serve(null);
  page = await browser.newPage();
  await page.goto(`${site.url}pages.html`);
  await page.waitForFunction(() => "pageHarness" in window);
});

test.afterAll(async () => {
  await page?.close();
  await site?.close();
});

interface Golden {
  name: string;
  patches: string[];
  whole: string;
}

function goldens(view: string): Golden[] {
  const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".patches")).sort();
  const chosen = process.env["SCREENS"] === "all" ? files : files.filter((_, place) => place % SAMPLED_EVERY === 0);
  return chosen.map((name) => {
    const lines = readFileSync(join(FIXTURES, name), "utf8").split("\n");
    const own = lines.filter((line) => line.startsWith(`${view} `)).map((line) => line.slice(view.length + 1));
    return { name, patches: own.filter((line) => !line.startsWith("= ")), whole: own.find((line) => line.startsWith("= "))?.slice(2) ?? "{}" };
  });
}

/** The difference between an item and what is shown of it, if any. */
function itemError(item: Item, shown: ShownItem): string | undefined {
  if (item.state === "withdrawn") return shown.text.trim() ? `withdrawn, but shows ${shown.text}` : undefined;
  const expected = expectedText(item);
  if ("parts" in expected) {
    // In this order, and each once.
    let rest = spaceless(shown.text);
    for (const part of expected.parts.map(spaceless)) {
      const place = rest.indexOf(part);
      if (place < 0) return `${part} is missing in ${shown.text}`;
      rest = rest.slice(place + part.length);
      if (part && rest.includes(part)) return `${part} is twice in ${shown.text}`;
    }
    return undefined;
  }
  const [seen, wanted] = "exact" in expected ? [spaceless(shown.text), spaceless(expected.exact)] : [lettersOf(shown.text), lettersOf(expected.letters)];
  return seen === wanted ? undefined : `shows ${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`;
}

function pageError(expected: ClientPage, shown: readonly ShownItem[]): string | undefined {
  const facts = (kind: string, key: number, state: string) => `${key} ${kind} ${state}`;
  const wanted = expected.keys.map((key) => facts(expected.items.get(key)?.kind ?? "", key, expected.items.get(key)?.state ?? ""));
  const seen = shown.map(({ kind, key, state }) => facts(kind, key, state));
  if (wanted.join("\n") !== seen.join("\n")) return `items ${seen.join(", ")}, not ${wanted.join(", ")}`;
  for (const one of shown) {
    const item = expected.items.get(one.key);
    const error = item && itemError(item, one);
    if (error) return `item ${one.key}, ${one.kind}: ${error}`;
  }
  return undefined;
}

/** The difference between the status line and the page, if any. */
function statusError({ overlay, ended, status, label }: ClientPage, shown: string): string | undefined {
  if (overlay) return shown ? undefined : `no status for ${overlay.label}`;
  if (ended) return undefined;
  return Boolean(label) === Boolean(shown) ? undefined : `status ${shown} for ${status.doing} ${label}`;
}

async function expectShown(expected: ClientPage, where: string): Promise<void> {
  // Growing text is drawn a few times a second.
  const error = async () => {
    const { items, status } = await page.evaluate(() => window.pageHarness.read());
    return pageError(expected, items) ?? statusError(expected, status);
  };
  await expect.poll(error, { message: where, timeout: 3_000 }).toBeUndefined();
}

for (const view of VIEWS) {
  test(`${view}: the browser shows the engine's page, live and afterwards`, async () => {
    test.setTimeout(3_600_000);
    const problems: string[] = [];
    for (const { name, patches, whole } of goldens(view)) {
      await page.evaluate((of) => window.pageHarness.open(of), view);
      const expected = new ClientPage();
      const compare = (where: string) => expectShown(expected, where).catch((error: Error) => void problems.push(`${where}: ${error.message.split("\n").find((line) => line.startsWith("Received")) ?? error.message}`));
      for (let from = 0; from < patches.length; from += COMPARED_EVERY) {
        const next = patches.slice(from, from + COMPARED_EVERY);
        for (const patch of next) expected.apply(JSON.parse(patch) as Patch);
        await page.evaluate((of) => window.pageHarness.apply(of), next);
        await compare(`${name} after ${from + next.length}`);
      }
      await page.evaluate(([of, json]) => window.pageHarness.openSnapshot(of, json), [view, whole] as const);
      await compare(`${name} reloaded`);
    }
    expect(problems, problems.join("\n")).toEqual([]);
  });
}
