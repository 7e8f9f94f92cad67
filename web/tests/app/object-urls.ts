// Addresses that a page made for what it has in memory: each keeps that until it is given back.

import type { BrowserContext, Page } from "@playwright/test";

/** Counts them from now on, in pages that are opened. */
export async function countObjectUrls(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const kept = new Set<string>();
    const [make, giveBack] = [URL.createObjectURL, URL.revokeObjectURL];
    URL.createObjectURL = (of) => {
      const address = make.call(URL, of);
      kept.add(address);
      return address;
    };
    URL.revokeObjectURL = (address) => {
      kept.delete(address);
      giveBack.call(URL, address);
    };
    Object.assign(window, { __objectUrls: kept });
  });
}

/** Those that were made and not given back. */
export function objectUrls(page: Page): Promise<string[]> {
  return page.evaluate(() => [...(window as unknown as { __objectUrls: Set<string> }).__objectUrls]);
}
