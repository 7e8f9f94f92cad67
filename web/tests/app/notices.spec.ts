// Notices to somebody who is elsewhere: what the service worker shows, when it does not, and where a
// notice leads that is pressed.

import type { Worker } from "@playwright/test";
import { personsBrowser } from "./person.ts";
import { pieces } from "./stream.ts";
import { expect, test, type Page } from "./test.ts";

test("a notice is shown once, by the service worker, and only to somebody who is elsewhere", async ({ page, gateway, context }) => {
  await context.grantPermissions(["notifications"], { origin: gateway.origin });
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.evaluate(() => navigator.serviceWorker.ready);
  const [worker] = context.serviceWorkers();
  const shown = () =>
    worker?.evaluate(async () => {
      const { registration } = self as unknown as { registration: ServiceWorkerRegistration };
      const notice = { title: "Pond", body: "It waits for you.", session: "S" };
      const done: Promise<unknown>[] = [];
      const event = Object.assign(new MessageEvent("message", { data: { notice } }), { waitUntil: (work: Promise<unknown>) => done.push(work) });
      self.dispatchEvent(event);
      await Promise.all(done);
      return (await registration.getNotifications()).map(({ title }) => title);
    });
  expect(await shown(), "somebody looks").toEqual([]);
  await page.goto("about:blank");
  await shown();
  expect(await shown(), "nobody does").toEqual(["Pond"]);
});

test("a notice that is pressed opens a window where only others than the chat's are", async ({ page, gateway, context }) => {
  const session = await gateway.newSession("noticed");
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.goto(`${gateway.origin}/theatre/${session}`);
  const [worker] = context.serviceWorkers();
  const opened = await worker?.evaluate(async () => {
    const { clients } = self as unknown as { clients: object };
    const opened: string[] = [];
    Object.defineProperty(clients, "openWindow", { configurable: true, value: async (url: string) => void opened.push(url) });
    const done: Promise<unknown>[] = [];
    const notification = { close: () => {}, data: "S" };
    self.dispatchEvent(Object.assign(new Event("notificationclick"), { notification, waitUntil: (work: Promise<unknown>) => done.push(work) }));
    await Promise.all(done);
    return opened;
  });
  expect(opened).toEqual(["/s/S"]);
});

/** One of the browser's own cannot be pressed here: the worker is told of it as the browser would. */
const press = (worker: Worker | undefined, session: string) =>
  worker?.evaluate(async (session) => {
    const { registration } = self as unknown as { registration: ServiceWorkerRegistration };
    const [notification] = await registration.getNotifications({ tag: session });
    const done: Promise<unknown>[] = [];
    const event = Object.assign(new Event("notificationclick"), { notification, waitUntil: (work: Promise<unknown>) => done.push(work) });
    self.dispatchEvent(event);
    // Only somebody who has really pressed something may bring a window to the front.
    await Promise.all(done).catch((error: Error) => {
      if (error.name !== "InvalidAccessError") throw error;
    });
  }, session);

const notices = (page: Page) =>
  page.evaluate(async () => {
    const shown = await (await navigator.serviceWorker.ready).getNotifications();
    return shown.map(({ title, body }) => `${title}: ${body}`).sort();
  });

const isHidden = (page: Page) => page.evaluate(() => document.visibilityState === "hidden");

const elsewhere = test.extend({
  context: async ({ launchOptions }, use) => personsBrowser(launchOptions.executablePath ?? "", launchOptions.args ?? [], use),
});

elsewhere("what ends and what asks while the tab is behind another is told, and the notice leads there", async ({ page, context, gateway }) => {
  await context.grantPermissions(["notifications"], { origin: gateway.origin });
  await page.goto(gateway.origin + (await gateway.loginPath()));
  const [mill, weir, dam] = [await gateway.newSession("Mill"), await gateway.newSession("Weir"), await gateway.newSession("Dam")];
  const listed = page.locator("mp-sidebar li");
  for (const title of ["Mill", "Weir", "Dam"]) await expect(listed.filter({ hasText: title })).toHaveCount(1);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("notify me");
  await page.keyboard.press("Enter");
  await page.evaluate(() => navigator.serviceWorker.ready);
  // At once, so that nobody is told that it began.
  const runIn = async (session: string) => {
    const ingest = gateway.ingest(session);
    for (const piece of pieces()) await ingest.write(piece);
    expect(await ingest.end()).toBe(200);
  };

  // Whoever looks at it needs no notice.
  await gateway.call("POST", `/v1/sessions/${dam}/messages`, { text: "compute 2+2" });
  await expect(listed.filter({ hasText: "Dam" })).toContainText("waits for you");
  const other = await context.newPage();
  await other.bringToFront();
  await expect.poll(() => isHidden(page)).toBe(true);
  await runIn(mill);
  await expect.poll(() => notices(page)).toEqual(["Mill: The run has ended."]);
  // After so long a tab that nobody looks at would give its line up.
  await other.waitForTimeout(11_000);
  await gateway.call("POST", `/v1/sessions/${weir}/messages`, { text: "compute 4+4" });
  await expect.poll(() => notices(page), { timeout: 20_000 }).toEqual(["Mill: The run has ended.", "Weir: It waits for you."]);

  await press(context.serviceWorkers()[0], weir);
  await expect(page).toHaveURL(`${gateway.origin}/s/${weir}`);
  await expect(page.locator(".ask pre")).toContainText("4+4");
  expect(await notices(page), "what was pressed is gone, what was not stays").toEqual(["Mill: The run has ended."]);
});
