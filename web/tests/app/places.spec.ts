// The other places: the theatre, a very long chat, no network at all; and what the first load weighs.

import { gzipSync } from "node:zlib";
import { expect, test } from "./test.ts";
import { pieces } from "./stream.ts";
import { isWhole, wrong } from "./watch.ts";

const VIEWS = ["latest", "steps", "bubbles", "transcript", "sentences"];

test("the theatre shows one run in all views, at any moment, live too", async ({ page, gateway }) => {
  const session = await gateway.newSession("stage");
  const ingest = gateway.ingest(session);
  const all = pieces();
  for (const piece of all.slice(0, 60)) await ingest.write(piece);
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.goto(`${gateway.origin}/theatre/${session}`);
  const column = (view: string) => page.locator(`.page.view-${view}`);
  await expect(column("bubbles")).toContainText("w040");
  for (const piece of all.slice(60)) await ingest.write(piece);
  await ingest.end();
  for (const view of VIEWS) await expect.poll(async () => isWhole(view, await column(view).innerText())).toBe(true);
  const slider = page.getByRole("slider");
  const last = Number(await slider.getAttribute("max"));
  for (const place of [0, 1, 20, 47, 60, Math.floor(last / 2), last - 1, 30, last]) {
    await slider.fill(String(place));
    await expect(page.locator("output")).toHaveText(`event ${place} of ${last}`);
    for (const view of VIEWS) expect(wrong(view, await column(view).innerText()), `${view} at ${place}`).toBeUndefined();
  }
  for (const view of VIEWS) expect(isWhole(view, await column(view).innerText()), view).toBe(true);
  await page.getByRole("combobox").selectOption("16");
  await page.getByRole("button", { name: "Play" }).click();
  await expect(page.locator("output")).toHaveText(`event ${last} of ${last}`, { timeout: 30_000 });
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
  await expect(page.locator(".page")).toContainText("Message 9999", { timeout: 30_000 });
  console.log(`a session of 10,000 messages showed its end after ${Date.now() - began} ms`);
  // Up from the end, from the middle and to the top, a window a frame, looking at each as it was painted.
  const blank = await page.evaluate(async () => {
    const scroller = document.querySelector<HTMLElement>(".scroller");
    if (!scroller) return ["no page"];
    const found: string[] = [];
    const box = scroller.getBoundingClientRect();
    const up = (from: number) => Array.from({ length: 40 }, (_, n) => from * scroller.scrollHeight - n * scroller.clientHeight);
    for (const at of [1, 0.6, 0.04].flatMap(up)) {
      scroller.scrollTop = at;
      // Once that frame has been painted.
      await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
      // Near enough together that two in a row are never between items.
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
    // What is fetched beforehand is part of it, also when the field is there already.
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

test("on a processor four times slower it can be used; how soon is printed", async ({ page, gateway }) => {
  await page.goto(gateway.origin + (await gateway.loginPath()));
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  const began = Date.now();
  await page.goto(gateway.origin);
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill("ready");
  await expect(page.getByRole("button", { name: "Send" })).toBeEnabled();
  console.log(`on a processor four times slower it could be used after ${Date.now() - began} ms`);
});

test("after one visit the app opens without a network, with all that it loads later", async ({ page, gateway, context }) => {
  const session = await gateway.newSession("kept");
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  gateway.cut();
  const other = await context.newPage();
  await other.goto(gateway.origin);
  await expect(other.getByRole("textbox", { name: "Message" })).toBeVisible();
  await other.goto(`${gateway.origin}/s/${session}`);
  await expect(other.locator(".line")).toContainText("No connection");
  await other.goto(`${gateway.origin}/share/${session}#none`);
  await expect(other.locator("h1")).toBeVisible();
  await other.goto(`${gateway.origin}/theatre/${session}`);
  await expect(other.locator("h1")).toContainText("one run in five views");
  // As after an upgrade, when the gateway has other files: those of the page that is open are there.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("polski");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Nowa rozmowa", exact: true })).toBeVisible();
  gateway.mend();
  await other.close();
});

test("a full theatre says so", async ({ page, gateway }) => {
  const session = await gateway.newSession("full");
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.route("**/v1/sessions/*/theatre", (route) => route.fulfill({ status: 429, json: { error: { code: "theatre_full", message: "8 readers are in the theatre already." } } }));
  await page.goto(`${gateway.origin}/theatre/${session}`);
  await expect(page.locator(".problem")).toContainText("readers are in the theatre already");
  await page.unroute("**/v1/sessions/*/theatre");
  await expect(page.locator(".problem")).toHaveCount(0, { timeout: 20_000 });
});

test("a chat whose program does not come is told of, and comes when it is asked for again", async ({ page, gateway }) => {
  const session = await gateway.newSession("late");
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.route("**/assets/chat-*.js", (route) => route.abort());
  await page.goto(`${gateway.origin}/s/${session}`);
  const again = page.locator(".toast").getByRole("button", { name: "Try again" });
  await expect(again).toBeVisible();
  await page.unroute("**/assets/chat-*.js");
  await again.click();
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
});
