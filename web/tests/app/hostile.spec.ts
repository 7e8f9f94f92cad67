// Hostile texts: the project's own payloads, and those of the corpus if it is there, as message, tool name, tool output,
// title and error, on the real page under its real content security policy.

import { corpusPayloads, ownPayloads, samplePayloads } from "../markdown/texts.ts";
import { expect, test, type Page } from "./test.ts";
import type { TestGateway } from "./gateway.ts";

const payloads = samplePayloads(1);

const BATCH = 1200;
const toBatches = (all: string[]) => Array.from({ length: Math.ceil(all.length / BATCH) }, (_, n) => all.slice(n * BATCH, (n + 1) * BATCH));

test.beforeEach(({ page }) => {
  page.on("dialog", (dialog) => {
    hits.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
});

const hits: string[] = [];

async function signIn(page: Page, gateway: TestGateway): Promise<void> {
  hits.length = 0;
  await page.exposeFunction("__hit", (what: string) => hits.push(what));
  await page.addInitScript(() => {
    const hit = (window as unknown as { __hit: (what: string) => void }).__hit;
    for (const name of ["alert", "confirm", "prompt", "print"] as const) Object.assign(window, { [name]: () => hit(name) });
  });
  await page.goto(gateway.origin + (await gateway.loginPath()));
}

async function expectNoActiveContent(page: Page): Promise<void> {
  const live = await page.evaluate(() => {
    const bad = /^\s*(javascript|data|vbscript):/i;
    const found: string[] = [];
    for (const element of document.querySelectorAll("mp-app *")) {
      if (["SCRIPT", "IFRAME", "OBJECT", "EMBED", "BASE", "META", "LINK", "STYLE"].includes(element.tagName)) found.push(element.tagName);
      for (const { name, value } of element.attributes) {
        if (name.startsWith("on") || (/^(href|src|action|formaction|xlink:href|srcdoc)$/.test(name) && bad.test(value))) found.push(`${name}=${value}`);
      }
    }
    return found;
  });
  expect(live).toEqual([]);
  expect(hits).toEqual([]);
}

const jsonLine = (value: object) => `${JSON.stringify({ ...value, session_id: "s" })}\n`;
const messageLine = (role: string, content: object[], n: number) => jsonLine({ type: role, message: { id: `m${n}`, role, content } });
const INIT_LINE = jsonLine({ type: "system", subtype: "init", tools: [], model: "pond-2" });
const resultLine = (result: string) => jsonLine({ type: "result", subtype: "success", is_error: false, result });

/** The payload as agent text, tool name, tool arguments and tool output. */
function hostileTurn(payload: string, n: number): string {
  const call = { type: "tool_use", id: `t${n}`, name: payload, input: { [payload]: payload } };
  const result = { type: "tool_result", tool_use_id: `t${n}`, content: payload };
  return messageLine("assistant", [{ type: "text", text: payload }, call], n) + messageLine("user", [result], n);
}

/** One run with all payloads. */
const asOneRun = (batch: string[]) => [[INIT_LINE, ...batch.map(hostileTurn), resultLine("Done.")].join("")];

/** One run per payload, for the view that shows only the reply of a run. */
const asSeparateRuns = (batch: string[]) => batch.map((payload, n) => INIT_LINE + hostileTurn(payload, n) + messageLine("assistant", [{ type: "text", text: payload }], n + 1) + resultLine(payload));

// The transcript gets all payloads of the corpus; the other views a tenth each, or all with MILLPOND_ALL.
const SAMPLE_EVERY = process.env["MILLPOND_ALL"] ? 1 : 10;
/** One payload of the corpus has no visible text. */
const NO_REPLY = 1;

const VIEWS = [
  { view: "transcript", every: 1, runs: asOneRun },
  { view: "sentences", every: SAMPLE_EVERY, runs: asOneRun },
  { view: "steps", every: SAMPLE_EVERY, runs: asOneRun },
  { view: "bubbles", every: SAMPLE_EVERY, runs: asOneRun },
  { view: "latest", every: SAMPLE_EVERY, runs: asSeparateRuns },
];

for (const [place, { view, every, runs }] of VIEWS.entries()) {
  test(`as texts, tool names and tool output, in ${view}`, async ({ page, gateway }) => {
    test.setTimeout(900_000);
    await signIn(page, gateway);
    await page.evaluate((view) => localStorage.setItem("millpond.choices", JSON.stringify({ view })), view);
    for (const [n, batch] of toBatches([...ownPayloads(), ...corpusPayloads().filter((_, n) => n % every === place % every)]).entries()) {
      const session = await gateway.newSession(`hostile ${n}`);
      for (const run of runs(batch)) {
        const ingest = gateway.ingest(session, "claude-code");
        await ingest.write(run);
        expect(await ingest.end()).toBe(200);
      }
      await page.goto(`${gateway.origin}/s/${session}`);
      await expect(page.locator(".status.ended")).toBeAttached();
      await page.waitForFunction(() => !document.querySelector(".unrendered"));
      await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
      expect(await page.locator(".item").count()).toBeGreaterThanOrEqual(batch.length - NO_REPLY);
      await expectNoActiveContent(page);
    }
  });
}

test("as titles of all chats in the list", async ({ page, gateway }) => {
  test.setTimeout(900_000);
  await signIn(page, gateway);
  const shown = await gateway.newSession("titles");
  for (const [n, batch] of toBatches(payloads).entries()) {
    const sessions = batch.map((payload, at) => ({
      id: `01J${String(n * BATCH + at).padStart(23, "0")}`,
      title: [...payload].slice(0, 200).join(""),
      created_ms: at,
      changed_ms: at,
      head: 0,
      pinned: at % 2 === 0,
      archived: false,
      run: null,
    }));
    await page.route("**/v1/sessions", (route) => route.fulfill({ json: { sessions } }));
    await page.goto(`${gateway.origin}/s/${shown}`);
    await expect(page.locator("mp-sidebar li")).toHaveCount(batch.length);
    await page.keyboard.press("Control+k");
    await expect(page.locator("mp-palette [role=option]").first()).toBeVisible();
    await expectNoActiveContent(page);
    await page.unroute("**/v1/sessions");
  }
});

test("as the title of the open chat", async ({ page, gateway }) => {
  test.setTimeout(900_000);
  await signIn(page, gateway);
  const session = await gateway.newSession("titles");
  await page.goto(`${gateway.origin}/s/${session}`);
  await expect(page.locator(".status")).toBeAttached();
  for (const payload of [ownPayloads().filter((_, n) => n % 6 === 0), corpusPayloads().filter((_, n) => n % 60 === 0)].flat()) {
    const title = [...payload].slice(0, 200).join("");
    const kept = (await gateway.callApi<{ title: string }>("PATCH", `/v1/sessions/${session}`, { title })).title;
    await expect.poll(() => page.locator("h1").evaluate((of) => of.textContent)).toBe(kept || "New chat");
    await expectNoActiveContent(page);
  }
});

test("as errors", async ({ page, gateway }) => {
  test.setTimeout(900_000);
  await signIn(page, gateway);
  const session = await gateway.newSession("errors");
  // A run for each would take minutes: a hundred per run, one per line.
  for (let from = 0; from < payloads.length; from += 100) {
    const ingest = gateway.ingest(session, "anthropic");
    const message = payloads.slice(from, from + 100).join("\n");
    await ingest.write(`event: error\ndata: ${JSON.stringify({ type: "error", error: { type: "api_error", message } })}\n\n`);
    await ingest.end();
  }
  await page.goto(`${gateway.origin}/s/${session}`);
  await page.locator(".view-picker select").selectOption("transcript");
  await expect(page.locator(".item").first()).toBeVisible();
  await page.reload();
  await expect(page.locator(".item").first()).toBeVisible();
  await expectNoActiveContent(page);
});
