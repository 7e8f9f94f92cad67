// The replay page, a very long chat, offline use, and the size of the first load.

import { gzipSync } from "node:zlib";
import { expect, test } from "./test.ts";
import { numberedRun } from "./numbered-run.ts";
import { isComplete, frameError } from "./frame-checks.ts";

const VIEWS = ["latest", "steps", "bubbles", "transcript", "sentences"];

test("the replay shows one run in all views, live and at any event", async ({ page, gateway }) => {
  const session = await gateway.newSession("replay");
  const ingest = gateway.ingest(session);
  const all = numberedRun();
  for (const piece of all.slice(0, 60)) await ingest.write(piece);
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.goto(`${gateway.origin}/theatre/${session}`);
  const column = (view: string) => page.locator(`.page.view-${view}`);
  await expect(column("bubbles")).toContainText("w040");
  for (const piece of all.slice(60)) await ingest.write(piece);
  await ingest.end();
  for (const view of VIEWS) await expect.poll(async () => isComplete(view, await column(view).innerText())).toBe(true);
  const slider = page.getByRole("slider");
  const last = Number(await slider.getAttribute("max"));
  for (const place of [0, 1, 20, 47, 60, Math.floor(last / 2), last - 1, 30, last]) {
    await slider.fill(String(place));
    await expect(page.locator("output")).toHaveText(`event ${place} of ${last}`);
    for (const view of VIEWS) expect(frameError(view, await column(view).innerText()), `${view} at ${place}`).toBeUndefined();
  }
  for (const view of VIEWS) await expect.poll(async () => isComplete(view, await column(view).innerText()), view).toBe(true);
  await page.getByRole("combobox").selectOption("16");
  await page.getByRole("button", { name: "Play" }).click();
  await expect(page.locator("output")).toHaveText(`event ${last} of ${last}`);
});

test("a session of 10,000 messages opens at its end and scrolls without blank frames", async ({ page, gateway }) => {
  const session = await gateway.newSession("long");
  const line = (n: number) => `{"type":"assistant","message":{"id":"m${n}","role":"assistant","content":[{"type":"text","text":"Message **${n}** of a long day, with \`code\` in it."}]},"session_id":"s"}\n`;
  const ingest = gateway.ingest(session, "claude-code");
  await ingest.write(`{"type":"system","subtype":"init","session_id":"s","tools":[],"model":"pond-2"}\n`);
  for (let from = 0; from < 10_000; from += 500) await ingest.write(Array.from({ length: 500 }, (_, n) => line(from + n)).join(""));
  await ingest.write(`{"type":"result","subtype":"success","is_error":false,"result":"Message **9999** of a long day, with \`code\` in it.","session_id":"s"}\n`);
  expect(await ingest.end()).toBe(200);
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.addInitScript(([of]) => localStorage.setItem("millpond.views", JSON.stringify([[of, "bubbles"]])), [session]);
  const began = Date.now();
  await page.goto(`${gateway.origin}/s/${session}`);
  await expect(page.locator(".page")).toContainText("Message 9999");
  console.log(`a session of 10,000 messages showed its end after ${Date.now() - began} ms`);
  // Scroll up from the end, the middle and near the top, one screen per frame, and look at each frame.
  const blank = await page.evaluate(async () => {
    const scroller = document.querySelector<HTMLElement>(".scroller");
    if (!scroller) return ["no page"];
    const found: string[] = [];
    const box = scroller.getBoundingClientRect();
    const up = (from: number) => Array.from({ length: 40 }, (_, n) => from * scroller.scrollHeight - n * scroller.clientHeight);
    for (const at of [1, 0.6, 0.04].flatMap(up)) {
      scroller.scrollTop = at;
      // After that frame was painted.
      await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
      // Close enough together that two in a row are never between items.
      const points = Array.from({ length: 40 }, (_, n) => box.y + 5 + (n * (box.height - 10)) / 40);
      const seen = points.map((y) => document.elementFromPoint(box.x + 300, y)?.closest(".item") != null);
      const holes = seen.filter((item, place) => !item && !seen[place + 1] && !seen[place + 2]);
      if (4 < holes.length) found.push(`${Math.round(scroller.scrollTop)}: ${seen.map(Number).join("")}`);
    }
    return found;
  });
  expect(blank).toEqual([]);
  await page.locator(".scroller").evaluate((of) => (of.scrollTop = 0));
  await expect(page.locator(".item").first()).toContainText("Message 0");
});

for (const place of ["the start", "a chat"]) {
  test(`the first load of ${place} is at most 100 KB, packed`, async ({ page, gateway }) => {
    const session = await gateway.newSession("weighed");
    await page.goto(gateway.origin + (await gateway.loginPath()));
    await page.goto("about:blank");
    const bodies: Promise<[string, number]>[] = [];
    const asked = new Set<string>();
    page.on("response", (response) => {
      asked.add(response.url());
      if (/\.(js|css|html)$|\/$|\/s\//.test(new URL(response.url()).pathname) && !response.url().includes("/v1/")) {
        bodies.push(response.body().then((body) => [response.url(), gzipSync(body, { level: 9 }).length], () => ["", 0]));
      }
    });
    await page.goto(place === "a chat" ? `${gateway.origin}/s/${session}` : gateway.origin);
    await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
    // Preloaded files count too.
    await page.evaluate(() => customElements.whenDefined("mp-chat").then(() => undefined));
    const ahead = await page.locator("link[rel=modulepreload]").evaluateAll((all) => all.map((of) => (of as HTMLLinkElement).href));
    await expect.poll(() => ahead.filter((address) => !asked.has(address))).toEqual([]);
    const sizes = await Promise.all(bodies);
    const total = sizes.reduce((sum, [, size]) => sum + size, 0);
    console.log(`the first load of ${place} is ${(total / 1000).toFixed(1)} KB, packed`);
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThanOrEqual(100_000);
  });
}

test("the app is usable with a four times slower CPU; the time is printed", async ({ page, gateway }) => {
  await page.goto(gateway.origin + (await gateway.loginPath()));
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  const began = Date.now();
  await page.goto(gateway.origin);
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill("ready");
  await expect(page.getByRole("button", { name: "Send" })).toBeEnabled();
  console.log(`on a processor four times slower it was usable after ${Date.now() - began} ms`);
});

test("after one visit the app opens offline, with all lazily loaded files", async ({ page, gateway, context }) => {
  const session = await gateway.newSession("kept");
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  gateway.cutNetwork();
  const other = await context.newPage();
  await other.goto(gateway.origin);
  await expect(other.getByRole("textbox", { name: "Message" })).toBeVisible();
  await other.goto(`${gateway.origin}/s/${session}`);
  await expect(other.locator(".connection-note")).toContainText("No connection");
  await other.goto(`${gateway.origin}/share/${session}#none`);
  await expect(other.locator("h1")).toBeVisible();
  await other.goto(`${gateway.origin}/theatre/${session}`);
  await expect(other.locator("h1")).toContainText("replay in five views");
  // Lazily loaded files of the open page are cached, as needed after an upgrade.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("polski");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Nowa rozmowa", exact: true })).toBeVisible();
  gateway.restoreNetwork();
  await other.close();
});

test("a full replay reports so and retries", async ({ page, gateway }) => {
  const session = await gateway.newSession("full");
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.route("**/v1/sessions/*/theatre", (route) => route.fulfill({ status: 429, json: { error: { code: "theatre_full", message: "At most 8 readers can replay a session." } } }));
  await page.goto(`${gateway.origin}/theatre/${session}`);
  await expect(page.locator(".error")).toContainText("readers can replay");
  await page.unroute("**/v1/sessions/*/theatre");
  await expect(page.locator(".error")).toHaveCount(0);
});

test("a chat whose code fails to load is reported, and loads on retry", async ({ page, gateway }) => {
  const session = await gateway.newSession("late");
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.route("**/assets/chat-*.js", (route) => route.abort());
  await page.goto(`${gateway.origin}/s/${session}`);
  const retry = page.locator(".toast").getByRole("button", { name: "Retry" });
  await expect(retry).toBeVisible();
  await page.unroute("**/assets/chat-*.js");
  await retry.click();
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
});
