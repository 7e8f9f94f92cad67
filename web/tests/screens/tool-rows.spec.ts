// Rows of tool calls: what the engine's description says is shown, and the raw call is one step away.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Item } from "../../packages/client/src/protocol.ts";
import { expect, test, type Locator, type Page } from "@playwright/test";
import { expectNoAxeViolations } from "../app/axe.ts";
import { serve, type Site } from "../markdown/site.ts";

const FIXTURE = join(import.meta.dirname, "../../../fixtures/claude-code/what-tools-did.patches");

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

async function openFixture(view: string): Promise<void> {
  const start = `${view} = `;
  const whole = readFileSync(FIXTURE, "utf8").split("\n").find((line) => line.startsWith(start))?.slice(start.length) ?? "{}";
  await page.evaluate(([of, json]) => window.pageHarness.openSnapshot(of, json), [view, whole] as const);
}

async function openItem(item: Partial<Item>): Promise<Locator> {
  const snapshot = JSON.stringify({ items: { 0: { ...item, run: "r", id: "s0" } } });
  await page.evaluate((json) => window.pageHarness.openSnapshot("transcript", json), snapshot);
  return page.locator(".page .item");
}

const row = (target: string): Locator => page.locator(".page details.tool", { has: page.locator(".target", { hasText: target }) });

test("an edit shows its lines with signs, and its JSON only after a step", async () => {
  await openFixture("transcript");
  const edit = row("/mill/weir.rs").filter({ hasText: "Edit" });
  await expect(edit.locator("summary.row .name")).toHaveText("Edit");
  await expect(edit.locator("del .sign")).toHaveText("-");
  await expect(edit.locator("del .line")).toHaveText("    leak();");
  await expect(edit.locator("ins .sign")).toHaveText("+");
  await expect(edit.locator("ins .line")).toHaveText("    hold();");
  await expect(edit.locator("ins")).toBeVisible();
  await expect(edit.getByText("old_string")).toBeHidden();
  await edit.locator(".raw summary").focus();
  await page.keyboard.press("Enter");
  await expect(edit.getByText("old_string")).toBeVisible();
  await expect(edit.getByText("has been updated")).toBeVisible();
});

test("a failed command says its exit status once in its row, and its output is below it", async () => {
  await openFixture("transcript");
  const command = row("cargo test");
  const heading = command.locator("summary.row");
  await expect(heading.locator(".name")).toHaveText("Run the tests");
  expect((await heading.innerText()).match(/101/g)).toHaveLength(1);
  await expect(heading).toContainText("failed");
  await expect(command.getByText("the weir leaks")).toBeHidden();
  await heading.press("Enter");
  await expect(command.getByText("the weir leaks")).toBeVisible();
  await expect(command.getByText('"command"')).toBeHidden();
});

test("tasks have a state that is more than a sign", async () => {
  await openFixture("transcript");
  await expect(page.locator(".todos li")).toHaveText([/Mend the weir\s*done/, /Open the gate\s*in progress/, /Grind\s*to do/]);
  await expect(page.locator(".todos li").first()).toBeVisible();
});

test("sources are links once each, and only to the web", async () => {
  const sources = [{ url: "https://weirs.test/a", title: "Weirs" }, { url: "javascript:alert(1)", title: "Script" }, { url: "data:text/html,x" }];
  const item = await openItem({ kind: "tool", state: "done", name: "WebSearch", text: "found", description: { purpose: "web_search", title: "Web search", target: "weirs", covers_arguments: true, sources } });
  await expect(item.locator("summary.row").first()).toContainText("3 sources");
  await item.locator("summary.row").press("Enter");
  await expect(item.locator("a")).toHaveCount(1);
  await expect(item.locator("a")).toHaveAttribute("href", "https://weirs.test/a");
  await expect(item.locator(".found li")).toHaveText([/^Weirs\s+weirs\.test$/, "Script", "data:text/html,x"]);
});

test("an action with a description is a row with its target, and its screenshot stays in sight", async () => {
  const item = await openItem({ kind: "action", state: "done", name: "computer", arguments: '{"action":"type","text":"sluice"}', images: [{ ref: `sha256:${"0".repeat(64)}` }], description: { purpose: "computer", title: "type", target: "sluice" } });
  await expect(item.locator("summary.row .name")).toHaveText("type");
  await expect(item.locator("summary.row .target")).toHaveText("sluice");
  await expect(item.locator(".images")).toBeVisible();
  await expect(item.getByText('"action"')).toBeHidden();
});

for (const view of ["transcript", "steps"]) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`${view}, ${colorScheme}: opened rows are accessible`, async () => {
      await page.emulateMedia({ colorScheme });
      await openFixture(view);
      await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
      await expectNoAxeViolations(page, `${view}, ${colorScheme}`, [], ".page");
    });
  }
}

test("an approval shows hidden characters of its change as escapes, and the raw call until it is decided", async () => {
  const ask: Partial<Item> = {
    kind: "ask",
    sort: "tool",
    state: "live",
    text: "Edit the weir",
    arguments: '{"new":"open\u202E()"}',
    description: { purpose: "edit", title: "Edit", target: "weir", covers_arguments: true, diffs: [{ path: "weir", change: "update", lines: [{ change: "added", text: "open\u202E()" }] }] },
  };
  const open = await openItem(ask);
  await expect(open.locator("ins .line")).toHaveText("open\\u{202e}()");
  await expect(open.locator(".raw pre")).toBeVisible();
  await expect(open.locator(".raw pre")).toContainText("open\\u{202e}()");
  const decided = await openItem({ ...ask, state: "done", result: "allow" });
  await expect(decided.locator(".raw pre")).toBeHidden();
});
