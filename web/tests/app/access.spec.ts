// For everyone: axe finds nothing in any state, everything works without a mouse, in both
// directions, at phone width, and a screen reader hears sentences.

import axe from "axe-core";
import { expect, test, type Page } from "./test.ts";
import type { TestGateway } from "./gateway.ts";
import { pieces } from "./stream.ts";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

async function expectNoBarriers(page: Page, state: string): Promise<void> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(async (rules) => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run({ runOnly: rules });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
  }, RULES);
  expect(found, state).toEqual([]);
}

async function enter(page: Page, gateway: TestGateway): Promise<void> {
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
}

async function send(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

for (const scheme of ["light", "dark"] as const) {
  test(`axe finds nothing, ${scheme}`, async ({ page, gateway, browser }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await enter(page, gateway);
    await expectNoBarriers(page, "the start");
    await send(page, "compute 6*7");
    await page.locator(".ask").waitFor();
    await send(page, "chart");
    await expect(page.locator(".queue li")).toHaveCount(1);
    await expectNoBarriers(page, "an ask and a queue");
    await page.locator(".queue").getByRole("button", { name: "Edit" }).click();
    await expectNoBarriers(page, "a message being changed");
    await page.locator(".queue").getByRole("button", { name: "Cancel" }).click();
    await page.waitForTimeout(400);
    await page.locator(".ask").getByRole("button", { name: "Allow once" }).click();
    await expect(page.locator(".queue li")).toHaveCount(0, { timeout: 20_000 });
    await expect(page.locator(".pictures img")).toBeVisible({ timeout: 20_000 });
    for (const view of ["latest", "steps", "bubbles", "transcript", "sentences"]) {
      await page.locator(".view-picker select").selectOption(view);
      await expect(page.locator(`.page.view-${view} .item`).first()).toBeVisible();
      for (const details of await page.locator(".page details").all()) await details.evaluate((of: HTMLDetailsElement) => (of.open = true));
      await expectNoBarriers(page, view);
    }
    await page.keyboard.press("Control+k");
    await expectNoBarriers(page, "the palette");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Actions for/ }).first().click();
    await expectNoBarriers(page, "a menu");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("share");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "New link" }).click();
    await expectNoBarriers(page, "sharing");
    const link = await page.getByRole("dialog").getByRole("textbox").inputValue();
    await page.keyboard.press("Escape");
    await page.locator(".pictures button").first().click();
    await expectNoBarriers(page, "a picture");
    await page.goto(page.url().replace("/s/", "/theatre/"));
    await expect(page.locator(".column .item").first()).toBeVisible();
    await expectNoBarriers(page, "the theatre");
    await page.goto(link);
    await expect(page.locator(".item").first()).toBeVisible();
    await expectNoBarriers(page, "a shared chat");
    const stranger = await (await browser.newContext({ colorScheme: scheme })).newPage();
    await stranger.goto(gateway.origin);
    await expect(stranger.locator("h2")).toBeVisible();
    await expectNoBarriers(stranger, "the doorstep");
    await stranger.close();
  });
}

test("everything can be done without a mouse", async ({ page, gateway }) => {
  await enter(page, gateway);
  await page.keyboard.type("compute 7*7");
  await page.keyboard.press("Enter");
  await page.locator(".ask").waitFor();
  await page.waitForTimeout(400);
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
  await tabTo(page, focused, "Allow once", "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page.locator(".page")).toContainText("7*7 = 49", { timeout: 20_000 });
  // The fold of earlier steps.
  await page.locator(".steps summary").first().focus();
  await page.keyboard.press("Enter");
  await expect(page.locator(".steps").first()).toHaveAttribute("open", "");
  // The palette, another view, and back to writing.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("transcript");
  await page.keyboard.press("Enter");
  await expect(page.locator(".page.view-transcript")).toBeAttached();
  // A command after a slash.
  await page.getByRole("textbox", { name: "Message" }).focus();
  await page.keyboard.type("/rena");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.type("By hand");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("By hand");
  // The list of chats.
  await page.getByRole("searchbox").focus();
  await tabTo(page, focused, "By hand", "Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.locator("mp-sidebar h2").first()).toHaveText("Pinned");
});

async function tabTo(page: Page, focused: () => Promise<string>, text: string, key: string): Promise<void> {
  for (let press = 0; press < 40; press++) {
    if ((await focused()).startsWith(text)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${text} cannot be reached with ${key}`);
}

test("a screen reader hears sentences, once each, and not tokens", async ({ page, gateway }) => {
  const session = await gateway.newSession("heard");
  await enter(page, gateway);
  await page.goto(`${gateway.origin}/s/${session}`);
  await page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(window, { __heard: heard });
    const region = document.querySelector("[data-announcer]");
    if (region) new MutationObserver(() => heard.push(region.textContent ?? "")).observe(region, { childList: true });
  });
  const ingest = gateway.ingest(session);
  for (const piece of pieces()) {
    await ingest.write(piece);
    await page.waitForTimeout(15);
  }
  await ingest.end();
  await expect(page.locator(".status.ended")).toBeAttached();
  await page.waitForTimeout(1500);
  const heard = await page.evaluate(() => (window as unknown as { __heard: string[] }).__heard);
  const words = heard.join(" ").match(/\bw\d{3}\b/g) ?? [];
  expect(words.length).toBe(120);
  expect(new Set(words).size, "each once").toBe(120);
  expect(heard.length, "few announcements").toBeLessThan(20);
  for (const one of heard.slice(0, -1)) expect(one.trim()).toMatch(/\.$|you$/);
});

test("at phone width nothing is cut off, and from right to left all is mirrored", async ({ page, gateway }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await enter(page, gateway);
  await send(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(await overflow()).toBe(0);
  await page.getByRole("button", { name: "Show the list of chats" }).click();
  await expect(page.getByRole("searchbox")).toBeVisible();
  await page.getByRole("button", { name: "Hide the list of chats" }).click();
  await page.evaluate(() => (document.documentElement.dir = "rtl"));
  expect(await overflow()).toBe(0);
  const { x, width } = (await page.locator(".of-user .said").boundingBox()) ?? { x: 0, width: 0 };
  expect(x + width / 2, "what the person said is on the left").toBeLessThan(195);
});
