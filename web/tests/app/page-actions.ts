// Actions of a signed-in user that several specs share.

import { expect, type Page } from "@playwright/test";
import type { TestGateway } from "./gateway.ts";

/** Signs in and waits for the message field. */
export async function signIn(page: Page, gateway: TestGateway): Promise<void> {
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
}

export async function sendMessage(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

/** Runs a command through the palette. */
export async function runCommand(page: Page, name: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
}

/**
 * Presses until `isDone`. An ask ignores input for a moment after it appears, and nothing on the page tells when that
 * moment is over.
 */
export async function pressUntil(press: () => Promise<void>, isDone: () => Promise<boolean>): Promise<void> {
  await expect(async () => {
    if (!(await isDone())) await press();
    await expect.poll(isDone, { timeout: 1_000 }).toBe(true);
  }).toPass();
}

/** Answers the open ask with the button of this name. */
export async function answerAsk(page: Page, name: string): Promise<void> {
  const button = page.locator(".ask").getByRole("button", { name });
  // Before it is shown, as after a reload, no ask does not mean that it is answered.
  await button.waitFor();
  // A button whose answer is being sent is disabled.
  const isAnswered = async () => (await page.locator(".ask").count()) === 0 || (await button.getAttribute("aria-disabled")) === "true";
  await pressUntil(() => button.click(), isAnswered);
}

/** A promise that a test fulfils: holds a request back until the test has seen what it waits for. */
export function holdUntilReleased(): { held: Promise<void>; release: () => void } {
  let release = (): void => {};
  const held = new Promise<void>((done) => (release = done));
  return { held, release };
}

/** Advances the clock of a page on which it is installed; all timers that end in that time fire. */
export async function advanceClock(page: Page, ms: number): Promise<void> {
  const before = await page.evaluate(() => performance.now());
  await page.clock.runFor(ms);
  expect(await page.evaluate(() => performance.now()), "the clock is installed").toBeGreaterThanOrEqual(before + ms);
}
