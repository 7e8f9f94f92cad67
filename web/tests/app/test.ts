// Test fixture: fails a test whose pages have an uncaught error, violate the content security policy or make a
// request to another origin.

import { test as baseTest, type BrowserContext } from "@playwright/test";
import { TestGateway } from "./gateway.ts";

export { expect, type Page } from "@playwright/test";

export const test = baseTest.extend<{ noViolations: void }, { gateway: TestGateway }>({
  gateway: [
    async ({}, use) => {
      const gateway = await TestGateway.start();
      await use(gateway);
      await gateway.stop();
    },
    { scope: "worker" },
  ],
  noViolations: [
    async ({ context, gateway }, use) => {
      const violations: string[] = [];
      recordViolations(context, gateway.origin, violations);
      await use();
      if (violations.length) throw new Error(`violations:\n${violations.join("\n")}`);
    },
    { auto: true },
  ],
});

function recordViolations(context: BrowserContext, origin: string, violations: string[]): void {
  context.on("weberror", (error) => violations.push(String(error.error().stack)));
  context.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) violations.push(message.text());
  });
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(blob|data|about|chrome):/.test(url)) violations.push(`a request to ${url}`);
  });
}
