// The gateway is upgraded while the app is open: each page is of one build, from its first file to its
// last.

import { pieces } from "./stream.ts";
import { expect, test, type Page } from "./test.ts";
import { Upgradable } from "./upgrade.ts";
import { isWhole } from "./watch.ts";

test.afterEach(({ gateway }) => gateway.answerBy(undefined));

/** Of which builds the files are that a page has loaded. */
async function buildsIn(page: Page, served: Upgradable): Promise<string[]> {
  const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
  return [...new Set(loaded.flatMap((path) => served.buildOf(path) ?? []))];
}

const caches = (page: Page) => page.evaluate(async () => (await globalThis.caches.keys()).length);

async function command(page: Page, name: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
}

const newChat = (page: Page, words: string) => page.getByRole("button", { name: words, exact: true });

test("a page that is open stays what it is and works; the next is new, and so is the worker when the old are closed", async ({ page, context, gateway }) => {
  const session = await gateway.newSession("upgraded");
  const served = await Upgradable.of(gateway, ["New chat", "Newer chat"]);
  gateway.answerBy(served.server);
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  await expect(newChat(page, "New chat")).toBeVisible();
  served.upgrade();
  await page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
  const waiting = () => page.evaluate(async () => (await navigator.serviceWorker.ready).waiting?.state);
  await expect.poll(waiting, "the new worker has its files").toBe("installed");
  // One that did not want to wait would have taken over by then.
  await page.waitForTimeout(1_000);
  expect(await waiting(), "and waits").toBe("installed");
  expect(await caches(page)).toBe(2);

  await test.step("the page that was open loads what it has not needed so far", async () => {
    await command(page, "upgraded");
    const ingest = gateway.ingest(session);
    for (const piece of pieces()) await ingest.write(piece);
    await ingest.end();
    await expect.poll(async () => isWhole("steps", await page.locator(".scroller").innerText())).toBe(true);
    await command(page, "share");
    await expect(page.getByRole("dialog").getByRole("button", { name: "New link" })).toBeVisible();
    await page.keyboard.press("Escape");
    await command(page, "polski");
    await expect(newChat(page, "Nowa rozmowa")).toBeVisible();
    expect(await buildsIn(page, served)).toEqual(["before"]);
    expect(await caches(page), "those of both builds are kept").toBe(2);
  });

  await test.step("a page that is opened beside it is new", async () => {
    const other = await context.newPage();
    await other.addInitScript(() => localStorage.setItem("millpond.choices", JSON.stringify({ language: "en" })));
    await other.goto(`${gateway.origin}/s/${session}`);
    await expect(newChat(other, "Newer chat")).toBeVisible();
    await expect.poll(async () => isWhole("steps", await other.locator(".scroller").innerText())).toBe(true);
    expect(await buildsIn(other, served)).toEqual(["after"]);
    await other.close();
  });

  await test.step("the old page is new once it is loaded again", async () => {
    await page.reload();
    await expect(newChat(page, "Newer chat")).toBeVisible();
    expect(await buildsIn(page, served)).toEqual(["after"]);
  });

  await test.step("when no page of the old worker is left, the new one has taken over, and keeps one build", async () => {
    await page.goto("about:blank");
    const last = await context.newPage();
    await page.close();
    await last.goto(gateway.origin);
    await expect.poll(() => caches(last)).toBe(1);
    gateway.cut();
    await last.goto(`${gateway.origin}/s/${session}`);
    await expect(last.locator(".line")).toContainText("No connection");
    await expect(newChat(last, "Newer chat")).toBeVisible();
    expect(await buildsIn(last, served)).toEqual(["after"]);
    gateway.mend();
  });
});
