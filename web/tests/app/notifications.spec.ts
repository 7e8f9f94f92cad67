// Notifications: when the service worker shows them, and what a click opens.

import type { Worker } from "@playwright/test";
import { withHiddenTabs } from "./hidden-tabs.ts";
import { numberedRun } from "./numbered-run.ts";
import { advanceClock } from "./page-actions.ts";
import { expect, test, type Page } from "./test.ts";

test("a notification is shown once, and only if no window of the app is visible", async ({ page, gateway, context }) => {
  await context.grantPermissions(["notifications"], { origin: gateway.origin });
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.evaluate(() => navigator.serviceWorker.ready);
  const [worker] = context.serviceWorkers();
  const shown = () =>
    worker?.evaluate(async () => {
      const { registration } = self as unknown as { registration: ServiceWorkerRegistration };
      const notice = { title: "Pond", body: "Waiting for your answer.", session: "S" };
      const done: Promise<unknown>[] = [];
      const event = Object.assign(new MessageEvent("message", { data: { notice } }), { waitUntil: (work: Promise<unknown>) => done.push(work) });
      self.dispatchEvent(event);
      await Promise.all(done);
      return (await registration.getNotifications()).map(({ title }) => title);
    });
  expect(await shown(), "a window is visible").toEqual([]);
  await page.goto("about:blank");
  await shown();
  expect(await shown(), "no window is visible").toEqual(["Pond"]);
});

test("a click opens a new window if only other pages are open", async ({ page, gateway, context }) => {
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

/** Simulates a click in the worker: tests cannot click system notifications. */
const clickNotification = (worker: Worker | undefined, session: string) =>
  worker?.evaluate(async (session) => {
    const { registration } = self as unknown as { registration: ServiceWorkerRegistration };
    const [notification] = await registration.getNotifications({ tag: session });
    const done: Promise<unknown>[] = [];
    const event = Object.assign(new Event("notificationclick"), { notification, waitUntil: (work: Promise<unknown>) => done.push(work) });
    self.dispatchEvent(event);
    // Focusing a window needs a real user gesture.
    await Promise.all(done).catch((error: Error) => {
      if (error.name !== "InvalidAccessError") throw error;
    });
  }, session);

const shownNotifications = (page: Page) =>
  page.evaluate(async () => {
    const shown = await (await navigator.serviceWorker.ready).getNotifications();
    return shown.map(({ title, body }) => `${title}: ${body}`).sort();
  });

/**
 * Records what the worker has shown, in order. To ask the browser instead, again and again, makes it forget a
 * notification that it is about to show.
 */
const recordNotifications = (worker: Worker | undefined) =>
  worker?.evaluate(() => {
    const { registration } = self as unknown as { registration: ServiceWorkerRegistration };
    const recorded: string[] = [];
    const show = registration.showNotification.bind(registration);
    registration.showNotification = async (title, options) => {
      await show(title, options);
      recorded.push(`${title}: ${options?.body}`);
    };
    Object.assign(self, { __shown: recorded });
  });

const recordedNotifications = (worker: Worker | undefined) => worker?.evaluate(() => (self as unknown as { __shown: string[] }).__shown);

const isHidden = (page: Page) => page.evaluate(() => document.visibilityState === "hidden");

const testWithHiddenTabs = test.extend({
  context: async ({ launchOptions }, use) => withHiddenTabs(launchOptions.executablePath ?? "", launchOptions.args ?? [], use),
});

testWithHiddenTabs("a hidden tab notifies of endings and asks, and a click opens the session", async ({ page, context, gateway }) => {
  await context.grantPermissions(["notifications"], { origin: gateway.origin });
  await page.clock.install();
  await page.goto(gateway.origin + (await gateway.loginPath()));
  const [mill, weir, dam] = [await gateway.newSession("Mill"), await gateway.newSession("Weir"), await gateway.newSession("Dam")];
  const listed = page.locator("mp-sidebar li");
  for (const title of ["Mill", "Weir", "Dam"]) await expect(listed.filter({ hasText: title })).toHaveCount(1);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("notify me");
  await page.keyboard.press("Enter");
  await page.evaluate(() => navigator.serviceWorker.ready);
  const [worker] = context.serviceWorkers();
  await recordNotifications(worker);
  // Fast, so that no update is sent while it runs.
  const runIn = async (session: string) => {
    const ingest = gateway.ingest(session);
    for (const piece of numberedRun()) await ingest.write(piece);
    expect(await ingest.end()).toBe(200);
  };

  // No notification while the tab is visible.
  await gateway.callApi("POST", `/v1/sessions/${dam}/messages`, { text: "compute 2+2" });
  await expect(listed.filter({ hasText: "Dam" })).toContainText("needs your answer");
  const other = await context.newPage();
  await other.bringToFront();
  await expect.poll(() => isHidden(page)).toBe(true);
  await runIn(mill);
  await expect.poll(() => recordedNotifications(worker)).toEqual(["Mill: Run ended."]);
  // Longer than the time after which a hidden tab pauses its connections, on the page's clock.
  await advanceClock(page, 11_000);
  await gateway.callApi("POST", `/v1/sessions/${weir}/messages`, { text: "compute 4+4" });
  await expect.poll(() => recordedNotifications(worker)).toEqual(["Mill: Run ended.", "Weir: Waiting for your answer."]);
  expect(await shownNotifications(page)).toEqual(["Mill: Run ended.", "Weir: Waiting for your answer."]);

  await clickNotification(worker, weir);
  await expect(page).toHaveURL(`${gateway.origin}/s/${weir}`);
  await expect(page.locator(".ask pre")).toContainText("4+4");
  expect(await shownNotifications(page), "only the clicked notification is gone").toEqual(["Mill: Run ended."]);
});
