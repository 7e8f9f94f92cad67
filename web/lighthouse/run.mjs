// Starts a gateway, creates a run, and checks two pages with Lighthouse.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "chrome-launcher";
import lighthouse, { desktopConfig } from "lighthouse";

const CATEGORIES = ["performance", "accessibility", "best-practices"];
const SCORE_MIN = 95;

const home = mkdtempSync(join(tmpdir(), "millpond-lighthouse-"));
const gateway = spawn(process.argv[2], ["serve", "--listen", "127.0.0.1:0", "--data", home], { cwd: home, stdio: ["ignore", "ignore", "pipe"] });
const base = await new Promise((found, failed) => {
  gateway.on("exit", (code) => failed(new Error(`the gateway exited with ${code}`)));
  let output = "";
  gateway.stderr.setEncoding("utf8").on("data", (text) => {
    const match = /listening on (http:\S+)/.exec((output += text));
    if (match) found(match[1]);
  });
});

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${readFileSync(join(home, "token"), "utf8").trim()}`, "content-type": "application/json" };
  const response = await fetch(base + path, { method, headers, body: JSON.stringify(body) });
  return response.json();
}

let status = 0;
const chrome = await launch({ chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu"] });
try {
  const { id } = await call("POST", "/v1/sessions", { title: "Ponds" });
  await call("POST", `/v1/sessions/${id}/messages`, { text: "/help" });
  for (const [form, config] of [["phone", undefined], ["desktop", desktopConfig]]) {
    for (const path of ["/", `/s/${id}`]) {
      // The login link sets the session cookie.
      const login = await fetch(base + (await call("POST", "/v1/login-link", {})).path, { redirect: "manual" });
      const cookie = login.headers.get("set-cookie").split(";")[0];
      const flags = { port: chrome.port, onlyCategories: CATEGORIES, extraHeaders: { cookie }, logLevel: "error" };
      const { lhr } = await lighthouse(base + path, flags, config);
      const scores = CATEGORIES.map((name) => Math.round(lhr.categories[name].score * 100));
      if (scores.some((score) => score < SCORE_MIN)) status = 1;
      console.log(`${form} ${path.slice(0, 3)}: ${CATEGORIES.map((name, n) => `${name} ${scores[n]}`).join(", ")}`);
      for (const audit of Object.values(lhr.audits)) {
        if (audit.score !== null && audit.score < 0.9 && audit.scoreDisplayMode !== "informative") console.log(`  ${audit.id}: ${audit.displayValue ?? audit.title}`);
      }
    }
  }
} finally {
  await chrome.kill();
  gateway.removeAllListeners("exit");
  gateway.kill();
  rmSync(home, { recursive: true, force: true });
}
process.exit(status);
