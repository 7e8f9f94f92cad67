// Starts a gateway, puts a run into it, and lets Lighthouse look at two pages of it.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "chrome-launcher";
import lighthouse, { desktopConfig } from "lighthouse";

const CATEGORIES = ["performance", "accessibility", "best-practices"];
const AT_LEAST = 95;

const home = mkdtempSync(join(tmpdir(), "millpond-lighthouse-"));
const gateway = spawn(process.argv[2], ["serve", "--listen", "127.0.0.1:0", "--data", home], { cwd: home, stdio: ["ignore", "ignore", "pipe"] });
const base = await new Promise((found, failed) => {
  gateway.on("exit", (code) => failed(new Error(`the gateway ended with ${code}`)));
  let said = "";
  gateway.stderr.setEncoding("utf8").on("data", (text) => {
    const at = /listening on (http:\S+)/.exec((said += text));
    if (at) found(at[1]);
  });
});

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${readFileSync(join(home, "token"), "utf8").trim()}`, "content-type": "application/json" };
  const answer = await fetch(base + path, { method, headers, body: JSON.stringify(body) });
  return answer.json();
}

let status = 0;
const chrome = await launch({ chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu"] });
try {
  const { id } = await call("POST", "/v1/sessions", { title: "Ponds" });
  await call("POST", `/v1/sessions/${id}/messages`, { text: "/help" });
  for (const [form, config] of [["phone", undefined], ["desktop", desktopConfig]]) {
    for (const path of ["/", `/s/${id}`]) {
      // A cookie that a link gives is all that lets a browser in.
      const login = await fetch(base + (await call("POST", "/v1/login-link", {})).path, { redirect: "manual" });
      const cookie = login.headers.get("set-cookie").split(";")[0];
      const flags = { port: chrome.port, onlyCategories: CATEGORIES, extraHeaders: { cookie }, logLevel: "error" };
      const { lhr } = await lighthouse(base + path, flags, config);
      const scores = CATEGORIES.map((name) => Math.round(lhr.categories[name].score * 100));
      if (scores.some((score) => score < AT_LEAST)) status = 1;
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
