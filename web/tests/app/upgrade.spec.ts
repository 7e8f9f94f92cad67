// The gateway is upgraded while the app is open: each page uses the files of one build only.

import { numberedRun } from "./numbered-run.ts";
import { runCommand } from "./page-actions.ts";
import { expect, test, type Page } from "./test.ts";
import { UpgradableServer } from "./upgrade.ts";
import { isComplete } from "./frame-checks.ts";

test.afterEach(({ gateway }) => gateway.serveFrom(undefined));

/** The builds whose files a page has loaded. */
async function buildsIn(page: Page, served: UpgradableServer): Promise<string[]> {
  const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
  return [...new Set(loaded.flatMap((path) => served.buildOf(path) ?? []))];
}

const cacheCount = (page: Page) => page.evaluate(async () => (await globalThis.caches.keys()).length);

const newChatButton = (page: Page, words: string) => page.getByRole("button", { name: words, exact: true });

// Over 60 lines: each step needs the state that the one before has left.
test("an open page keeps working with its build; new pages use the new one, and the worker follows when the old are closed", async ({ page, context, gateway }) => {
  const session = await gateway.newSession("upgraded");
  const served = await UpgradableServer.create(gateway, ["New chat", "Newer chat"]);
  gateway.serveFrom(served.server);
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  await expect(newChatButton(page, "New chat")).toBeVisible();
  served.upgrade();
  await page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
  const waiting = () => page.evaluate(async () => (await navigator.serviceWorker.ready).waiting?.state);
  await expect.poll(waiting, "the new worker has its files").toBe("installed");
  expect(await cacheCount(page)).toBe(2);

  await test.step("the page that was open loads what it has not needed so far", async () => {
    await runCommand(page, "upgraded");
    const ingest = gateway.ingest(session);
    for (const piece of numberedRun()) await ingest.write(piece);
    await ingest.end();
    await expect.poll(async () => isComplete("steps", await page.locator(".scroller").innerText())).toBe(true);
    await runCommand(page, "share");
    await expect(page.getByRole("dialog").getByRole("button", { name: "New link" })).toBeVisible();
    await page.keyboard.press("Escape");
    await runCommand(page, "polski");
    await expect(newChatButton(page, "Nowa rozmowa")).toBeVisible();
    expect(await buildsIn(page, served)).toEqual(["before"]);
    expect(await cacheCount(page), "those of both builds are kept").toBe(2);
    // Without waiting it would have taken over when it was installed, and these files would be of its build.
    expect(await waiting(), "the new worker waits").toBe("installed");
  });

  await test.step("a page that is opened beside it is new", async () => {
    const other = await context.newPage();
    await other.addInitScript(() => localStorage.setItem("millpond.choices", JSON.stringify({ language: "en" })));
    await other.goto(`${gateway.origin}/s/${session}`);
    await expect(newChatButton(other, "Newer chat")).toBeVisible();
    await expect.poll(async () => isComplete("steps", await other.locator(".scroller").innerText())).toBe(true);
    expect(await buildsIn(other, served)).toEqual(["after"]);
    await other.close();
  });

  await test.step("the old page is new once it is loaded again", async () => {
    await page.reload();
    await expect(newChatButton(page, "Newer chat")).toBeVisible();
    expect(await buildsIn(page, served)).toEqual(["after"]);
  });

  await test.step("when no page of the old worker is left, the new one has taken over, and keeps one build", async () => {
    await page.goto("about:blank");
    const last = await context.newPage();
    await page.close();
    // The browser replaces the worker some time after the last of its pages is closed. A page that
    // is opened before belongs to the old one, so it is closed and opened again.
    await expect(async () => {
      await last.goto(gateway.origin);
      const count = await cacheCount(last);
      if (1 < count) await last.goto("about:blank");
      expect(count).toBe(1);
    }).toPass();
    gateway.cutNetwork();
    await last.goto(`${gateway.origin}/s/${session}`);
    await expect(last.locator(".connection-note")).toContainText("No connection");
    await expect(newChatButton(last, "Newer chat")).toBeVisible();
    expect(await buildsIn(last, served)).toEqual(["after"]);
    gateway.restoreNetwork();
  });
});
