// Tracks object URLs, which keep their data in memory until they are revoked.

import type { BrowserContext, Page } from "@playwright/test";

/** Tracks object URLs in all pages opened from now on. */
export async function countObjectUrls(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const live = new Set<string>();
    const [create, revoke] = [URL.createObjectURL, URL.revokeObjectURL];
    URL.createObjectURL = (data) => {
      const url = create.call(URL, data);
      live.add(url);
      return url;
    };
    URL.revokeObjectURL = (url) => {
      live.delete(url);
      revoke.call(URL, url);
    };
    Object.assign(window, { __objectUrls: live });
  });
}

/** Object URLs that were created and not revoked. */
export function liveObjectUrls(page: Page): Promise<string[]> {
  return page.evaluate(() => [...(window as unknown as { __objectUrls: Set<string> }).__objectUrls]);
}
