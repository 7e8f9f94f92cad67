// Every test also fails when its pages break a rule of their own: an error that nobody caught, a
// policy that was violated, a request to another origin.

import { test as plain, type BrowserContext } from "@playwright/test";
import { TestGateway } from "./gateway.ts";

export { expect, type Page } from "@playwright/test";

export const test = plain.extend<{ rules: void }, { gateway: TestGateway }>({
  gateway: [
    async ({}, use) => {
      const gateway = await TestGateway.start();
      await use(gateway);
      await gateway.stop();
    },
    { scope: "worker" },
  ],
  rules: [
    async ({ context, gateway }, use) => {
      const broken: string[] = [];
      watch(context, gateway.origin, broken);
      await use();
      if (broken.length) throw new Error(`rules were broken:\n${broken.join("\n")}`);
    },
    { auto: true },
  ],
});

function watch(context: BrowserContext, origin: string, broken: string[]): void {
  context.on("weberror", (error) => broken.push(String(error.error().stack)));
  context.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) broken.push(message.text());
  });
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(blob|data|about|chrome):/.test(url)) broken.push(`a request to ${url}`);
  });
}
