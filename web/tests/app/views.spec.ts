// Every frame of each view: nothing is lost, repeated or leaked, whatever happens to the page, the network and
// the gateway.

import { expect, test, type Page } from "./test.ts";
import type { TestGateway } from "./gateway.ts";
import { FIRST_REPLY_WORDS, numberedRun, visibleWord } from "./numbered-run.ts";
import { recordedFrames, isComplete, recordFrames, frameError, userTextError, transitionError } from "./frame-checks.ts";

const VIEWS = ["latest", "steps", "bubbles", "transcript", "sentences"];

let gateway: TestGateway;
test.beforeAll(({ gateway: started }) => void (gateway = started));

async function openSession(page: Page, session: string, view: string): Promise<void> {
  await recordFrames(page);
  await page.addInitScript(([of, shown]) => localStorage.setItem("millpond.views", JSON.stringify([[of, shown]])), [session, view]);
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await page.goto(`${gateway.origin}/s/${session}`);
  await expect(page.locator(".status")).toBeAttached();
}

/** Checks every recorded frame and every transition. */
async function checkFrames(page: Page, view: string): Promise<number> {
  const seen = await recordedFrames(page);
  seen.forEach((text, place) => {
    expect(frameError(view, text), `${view}, frame ${place}:\n${seen.slice(Math.max(0, place - 2), place + 3).map(collapseSpaces).join("\n--\n")}`).toBeUndefined();
    expect(transitionError(view, seen[place - 1] ?? "", text), `${view}, frame ${place}:\n${seen[place - 1]}\n--\n${text}`).toBeUndefined();
  });
  return seen.length;
}

function collapseSpaces(text: string): string {
  return text.replace(/\s+/g, " ");
}

async function waitUntilComplete(page: Page, view: string): Promise<void> {
  await expect.poll(async () => isComplete(view, await page.locator(".scroller").innerText())).toBe(true);
}

/**
 * Writes the pieces. After every fourth word it waits until the page shows the word before the last one, which a view
 * may hold back: so the page grows over many frames, however slow the machine is.
 */
async function writeWatched(page: Page, ingest: { write(piece: string): Promise<void> }, pieces: string[]): Promise<void> {
  for (const piece of pieces) {
    await ingest.write(piece);
    const number = Number(/\bw(\d{3})\b/.exec(piece)?.[1] ?? 0);
    const inReply = number > FIRST_REPLY_WORDS ? number - FIRST_REPLY_WORDS : number;
    if (inReply > 2 && number % 4 === 0) await expect(page.locator(".scroller")).toContainText(visibleWord(number - 2));
  }
}

for (const view of VIEWS) {
  test(`${view}: live, reloaded in the middle, cut off, and reloaded at the end`, async ({ page }) => {
    const session = await gateway.newSession("words");
    await openSession(page, session, view);
    const all = numberedRun();
    const [one, two, three] = [all.slice(0, 40), all.slice(40, 90), all.slice(90)];
    const ingest = gateway.ingest(session);

    await writeWatched(page, ingest, one);
    await checkFrames(page, view);
    await page.reload();
    await expect(page.locator(".status")).toBeAttached();

    await writeWatched(page, ingest, two.slice(0, 25));
    gateway.cutNetwork();
    for (const piece of two.slice(25)) await ingest.write(piece);
    await expect(page.locator(".connection-note")).toBeVisible();
    await checkFrames(page, view);
    gateway.restoreNetwork();

    await writeWatched(page, ingest, three);
    expect(await ingest.end()).toBe(200);
    await waitUntilComplete(page, view);
    await expect(page.locator(".status.ended")).toBeAttached();
    expect(await checkFrames(page, view), "the page grew over several frames").toBeGreaterThan(10);

    const reloaded = await page.context().newPage();
    await recordFrames(reloaded);
    await reloaded.goto(`${gateway.origin}/s/${session}`);
    await waitUntilComplete(reloaded, view);
    // The last items may be drawn a frame after the status, on either page.
    const shownText = (of: Page) => of.locator(".page").innerText();
    await expect(async () => expect(await shownText(reloaded), "live equals reloaded").toBe(await shownText(page))).toPass();
    await checkFrames(page, view);
    await checkFrames(reloaded, view);
  });

  test(`${view}: the gateway is killed in the middle and started again`, async ({ page }) => {
    const session = await gateway.newSession("killed");
    await openSession(page, session, view);
    const ingest = gateway.ingest(session);
    const all = numberedRun();
    const until = all.findIndex((piece) => piece.includes("w030"));
    for (const piece of all.slice(0, until)) await ingest.write(piece);
    await expect(page.locator(".scroller")).toContainText("w029");
    await gateway.kill();
    await expect(page.locator(".connection-note")).toBeVisible();
    expect(await page.locator(".scroller").innerText(), "the partial stays").toContain("w029");
    await gateway.startProcess();
    await expect(page.locator(".scroller")).toContainText("Interrupted");
    expect(await page.locator(".scroller").innerText(), "the partial stays").toContain("w029");
    await checkFrames(page, view);
  });
}

for (const view of VIEWS) {
  test(`${view}: user messages and queued messages are shown once in every frame`, async ({ page }) => {
    const session = await gateway.newSession("asked");
    await openSession(page, session, view);
    await page.getByRole("textbox", { name: "Message" }).fill("/help q001");
    await page.keyboard.press("Enter");
    await expect(page.locator(".status.ended")).toBeAttached();
    const ingest = gateway.ingest(session);
    const all = numberedRun();
    for (const piece of all.slice(0, 30)) await ingest.write(piece);
    await expect(page.locator(".status.running")).toBeAttached();
    await page.getByRole("textbox", { name: "Message" }).fill("q002 waits");
    await page.keyboard.press("Enter");
    await expect(page.locator(".queue li")).toHaveCount(1);
    await writeWatched(page, ingest, all.slice(30));
    await expect.poll(async () => page.locator(".scroller").innerText()).toContain("w120");
    const seen = await recordedFrames(page);
    expect(seen.length, "the page grew over several frames").toBeGreaterThan(10);
    seen.forEach((text, place) => expect(frameError(view, text), `${view}, frame ${place}:\n${collapseSpaces(text)}`).toBeUndefined());
    for (const written of ["q001", "q002 waits"]) expect(userTextError(written, seen), view).toBeUndefined();
    await ingest.end();
  });
}

test("a message that is slow to send is shown once in every frame", async ({ page }) => {
  const session = await gateway.newSession("slow");
  await openSession(page, session, "steps");
  await page.route("**/messages", async (route) => {
    await page.locator(".unsent").waitFor();
    await route.continue();
  });
  await page.getByRole("textbox", { name: "Message" }).fill("/help q001");
  await page.keyboard.press("Enter");
  await expect(page.locator(".status.ended")).toBeAttached();
  expect(userTextError("q001", await recordedFrames(page))).toBeUndefined();
});

test("the same run in two tabs in two views", async ({ page, context }) => {
  const session = await gateway.newSession("two tabs");
  await openSession(page, session, "bubbles");
  const other = await context.newPage();
  await recordFrames(other);
  await other.goto(`${gateway.origin}/s/${session}`);
  await other.locator(".view-picker select").selectOption("transcript");
  await expect(other.locator(".page.view-transcript")).toBeAttached();
  const ingest = gateway.ingest(session);
  for (const piece of numberedRun()) await ingest.write(piece);
  await ingest.end();
  await waitUntilComplete(page, "bubbles");
  await waitUntilComplete(other, "transcript");
  await checkFrames(page, "bubbles");
  await checkFrames(other, "transcript");
  await expect(page.locator(".page")).toHaveClass(/view-bubbles/);
});
