// Each view in a real browser, looked at in every frame: nothing lost, doubled or leaked, whatever
// happens to the page, the network and the gateway.

import { expect, test, type Page } from "./test.ts";
import type { TestGateway } from "./gateway.ts";
import { pieces } from "./stream.ts";
import { frames, isWhole, watchEveryFrame, wrong, wrongAbout, wrongAfter } from "./watch.ts";

const VIEWS = ["latest", "steps", "bubbles", "transcript", "sentences"];

let gateway: TestGateway;
test.beforeAll(({ gateway: started }) => void (gateway = started));

async function enter(page: Page, session: string, view: string): Promise<void> {
  await watchEveryFrame(page);
  await page.addInitScript(([of, shown]) => localStorage.setItem("millpond.views", JSON.stringify([[of, shown]])), [session, view]);
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.goto(`${gateway.origin}/s/${session}`);
  await expect(page.locator(".status")).toBeAttached();
}

/** Every frame so far is right by itself and after the one before. */
async function checkFrames(page: Page, view: string): Promise<number> {
  const seen = await frames(page);
  seen.forEach((text, place) => {
    expect(wrong(view, text), `${view}, frame ${place}:\n${seen.slice(Math.max(0, place - 2), place + 3).map(squeezed).join("\n--\n")}`).toBeUndefined();
    expect(wrongAfter(view, seen[place - 1] ?? "", text), `${view}, frame ${place}:\n${seen[place - 1]}\n--\n${text}`).toBeUndefined();
  });
  return seen.length;
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, " ");
}

async function waitUntilWhole(page: Page, view: string): Promise<void> {
  await expect.poll(async () => isWhole(view, await page.locator(".scroller").innerText()), { timeout: 30_000 }).toBe(true);
}

for (const view of VIEWS) {
  test(`${view}: live, reloaded in the middle, cut off, and reloaded at the end`, async ({ page }) => {
    const session = await gateway.newSession("words");
    await enter(page, session, view);
    const all = pieces();
    const [one, two, three] = [all.slice(0, 40), all.slice(40, 90), all.slice(90)];
    const ingest = gateway.ingest(session);

    for (const piece of one) {
      await ingest.write(piece);
      await page.waitForTimeout(4);
    }
    await checkFrames(page, view);
    await page.reload();
    await expect(page.locator(".status")).toBeAttached();

    for (const piece of two.slice(0, 25)) {
      await ingest.write(piece);
      await page.waitForTimeout(4);
    }
    gateway.cut();
    for (const piece of two.slice(25)) await ingest.write(piece);
    await expect(page.locator(".line")).toBeVisible();
    await checkFrames(page, view);
    gateway.mend();

    for (const piece of three) {
      await ingest.write(piece);
      await page.waitForTimeout(2);
    }
    expect(await ingest.end()).toBe(200);
    await waitUntilWhole(page, view);
    await expect(page.locator(".status.ended")).toBeAttached();
    const live = await page.locator(".page").innerText();
    expect(await checkFrames(page, view), "the page was seen growing").toBeGreaterThan(10);

    await page.reload();
    await waitUntilWhole(page, view);
    await checkFrames(page, view);
    expect(await page.locator(".page").innerText(), "live equals reloaded").toBe(live);
  });

  test(`${view}: the gateway is killed in the middle and started again`, async ({ page }) => {
    const session = await gateway.newSession("killed");
    await enter(page, session, view);
    const ingest = gateway.ingest(session);
    const all = pieces();
    const until = all.findIndex((piece) => piece.includes("w030"));
    for (const piece of all.slice(0, until)) await ingest.write(piece);
    await expect(page.locator(".scroller")).toContainText("w029");
    await gateway.kill();
    await expect(page.locator(".line")).toBeVisible();
    expect(await page.locator(".scroller").innerText(), "the partial stays").toContain("w029");
    await gateway.run();
    await expect(page.locator(".scroller")).toContainText("Interrupted", { timeout: 30_000 });
    expect(await page.locator(".scroller").innerText(), "the partial stays").toContain("w029");
    await checkFrames(page, view);
  });
}

for (const view of VIEWS) {
  test(`${view}: what a person wrote and what waits is there once in every frame`, async ({ page }) => {
    const session = await gateway.newSession("asked");
    await enter(page, session, view);
    await page.getByRole("textbox", { name: "Message" }).fill("/help q001");
    await page.keyboard.press("Enter");
    await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
    const ingest = gateway.ingest(session);
    const all = pieces();
    for (const piece of all.slice(0, 30)) await ingest.write(piece);
    await expect(page.locator(".status.going")).toBeAttached();
    await page.getByRole("textbox", { name: "Message" }).fill("q002 waits");
    await page.keyboard.press("Enter");
    await expect(page.locator(".queue li")).toHaveCount(1);
    for (const piece of all.slice(30)) {
      await ingest.write(piece);
      await page.waitForTimeout(2);
    }
    await expect.poll(async () => page.locator(".scroller").innerText()).toContain("w120");
    const seen = await frames(page);
    expect(seen.length, "the page was seen growing").toBeGreaterThan(10);
    seen.forEach((text, place) => expect(wrong(view, text), `${view}, frame ${place}:\n${squeezed(text)}`).toBeUndefined());
    for (const written of ["q001", "q002 waits"]) expect(wrongAbout(written, seen), view).toBeUndefined();
    await ingest.end();
  });
}

test("the same run in two tabs in two views", async ({ page, context }) => {
  const session = await gateway.newSession("two tabs");
  await enter(page, session, "bubbles");
  const other = await context.newPage();
  await watchEveryFrame(other);
  await other.goto(`${gateway.origin}/s/${session}`);
  await other.locator(".view-picker select").selectOption("transcript");
  await expect(other.locator(".page.view-transcript")).toBeAttached();
  const ingest = gateway.ingest(session);
  for (const piece of pieces()) await ingest.write(piece);
  await ingest.end();
  await waitUntilWhole(page, "bubbles");
  await waitUntilWhole(other, "transcript");
  await checkFrames(page, "bubbles");
  await checkFrames(other, "transcript");
  await expect(page.locator(".page")).toHaveClass(/view-bubbles/);
});
