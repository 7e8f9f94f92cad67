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
