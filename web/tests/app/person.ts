// A browser as a person has it: a tab behind another is hidden. In those that tests have otherwise,
// every tab is taken to be seen.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type BrowserContext } from "@playwright/test";

export async function personsBrowser(program: string, words: readonly string[], use: (context: BrowserContext) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "millpond-person-"));
  const child = spawn(program, [...words, "--headless", "--no-first-run", "--remote-debugging-port=0", `--user-data-dir=${home}`, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
  const gone = new Promise((done) => child.once("exit", done));
  const address = await new Promise<string>((found, failed) => {
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      const [address] = /ws:\/\/\S+/.exec(said) ?? [];
      if (address) found(address);
    });
    child.once("exit", (code) => failed(new Error(`the browser ended with ${code}: ${said}`)));
  });
  const browser = await chromium.connectOverCDP(address, { noDefaults: true });
  const [context] = browser.contexts();
  try {
    if (context) await use(context);
  } finally {
    await browser.close();
    child.kill();
    await gone;
    remove(home);
  }
}

/** Its helpers may still be writing when it has ended: what cannot be removed then is left to the system. */
function remove(home: string): void {
  try {
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch (error) {
    console.log(`left behind: ${home}: ${String(error)}`);
  }
}
