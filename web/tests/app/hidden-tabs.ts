// A browser in which background tabs are hidden. In Playwright's own browsers every tab counts as visible.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type BrowserContext } from "@playwright/test";

/** Runs `use` with the context of a new browser. */
export async function withHiddenTabs(program: string, args: readonly string[], use: (context: BrowserContext) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "millpond-person-"));
  const child = spawn(program, [...args, "--headless", "--no-first-run", "--remote-debugging-port=0", `--user-data-dir=${home}`, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
  const gone = new Promise((done) => child.once("exit", done));
  const address = await new Promise<string>((found, failed) => {
    let output = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const [address] = /ws:\/\/\S+/.exec(output) ?? [];
      if (address) found(address);
    });
    child.once("exit", (code) => failed(new Error(`the browser exited with ${code}: ${output}`)));
  });
  const browser = await chromium.connectOverCDP(address, { noDefaults: true });
  const [context] = browser.contexts();
  try {
    if (context) await use(context);
  } finally {
    await browser.close();
    child.kill();
    await gone;
    removeProfile(home);
  }
}

/** Removes the profile; helper processes may still write to it, so failures are ignored. */
function removeProfile(home: string): void {
  try {
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch (error) {
    console.log(`left behind: ${home}: ${String(error)}`);
  }
}
