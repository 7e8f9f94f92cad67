// Rows of steps, failures and answered asks: what stands where, in the browser, live and afterwards.

import { expect, test, type Page } from "./test.ts";
import type { TestGateway } from "./gateway.ts";
import { contentBlock, modelResponse } from "./numbered-run.ts";
import { answerAsk, sendMessage, signIn } from "./page-actions.ts";

const VIEWS = ["latest", "steps", "bubbles", "transcript", "sentences"];

async function openInView(page: Page, gateway: TestGateway, view: string): Promise<string> {
  const session = await gateway.newSession("rows");
  await page.addInitScript(([of, shown]) => localStorage.setItem("millpond.views", JSON.stringify([[of, shown]])), [session, view] as const);
  await signIn(page, gateway);
  await page.goto(`${gateway.origin}/s/${session}`);
  await expect(page.locator(".status")).toBeAttached();
  return session;
}

const thinking = (index: number) => contentBlock(index, { type: "thinking", thinking: "" }, [{ type: "thinking_delta", thinking: "I look." }]);
const toolCall = (index: number, name: string) => contentBlock(index, { type: "tool_use", id: `toolu_${index}`, name, input: {} }, [{ type: "input_json_delta", partial_json: '{"path":"src"}' }]);
const reply = (index: number, text: string) => contentBlock(index, { type: "text", text: "" }, [{ type: "text_delta", text }]);

test("steps_s1 the overlay names the tool, and steps_s2 nothing takes its place after the first text", async ({ page, gateway }) => {
  const session = await openInView(page, gateway, "steps");
  const [status, item] = [page.locator(".status"), page.locator(".page .item")];
  const frames = modelResponse("msg_a", [toolCall(0, "grep"), reply(1, "Found it."), toolCall(2, "open"), reply(3, "Done.")], "end_turn");
  const ingest = gateway.ingest(session);
  const write = async (until: number, from = 0) => void (await ingest.write(frames.slice(from, until).join("")));
  await write(2);
  await expect(status).toHaveText("Working: grep");
  await write(6, 2);
  await expect(item.last()).toContainText("Found it.");
  await expect(status).toHaveText("");
  await write(8, 6);
  await expect(item.last()).toContainText("open");
  await expect(status).toHaveText("");
  await write(frames.length - 2, 8);
  await expect(item.last()).toContainText("Done.");
  await expect(status).toHaveText("");
  await write(frames.length, frames.length - 2);
  expect(await ingest.end()).toBe(200);
  await expect(page.locator(".status.ended")).toBeAttached();
});

test("steps_s4 the text does not move when its round is finalized", async ({ page, gateway }) => {
  const session = await openInView(page, gateway, "steps");
  const frames = modelResponse("msg_a", [thinking(0), toolCall(1, "grep"), reply(2, "Found it."), reply(3, "All of it.")], "end_turn");
  const ingest = gateway.ingest(session);
  await ingest.write(frames.slice(0, -2).join(""));
  const text = page.locator(".page .kind-text").first();
  await expect(text).toContainText("Found it.");
  await expect(page.locator(".page")).toContainText("All of it.");
  const top = async () => (await text.boundingBox())?.y;
  const before = await top();
  await ingest.write(frames.slice(-2).join(""));
  await ingest.end();
  await expect(page.locator(".page .kind-steps summary").first()).toContainText(/Ran for|Steps/);
  expect(await top(), "the row of the steps was kept").toBe(before);
  await page.reload();
  await expect(text).toContainText("Found it.");
  expect(await top(), "live equals reloaded").toBe(before);
});

test("steps_s7 a call and its result are one row, which opens by keyboard", async ({ page, gateway }) => {
  await openInView(page, gateway, "steps");
  await sendMessage(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached();
  await expect(page.locator(".page .tool .name", { hasText: "List" })).toHaveCount(1);
  const row = page.locator(".page .tool", { hasText: "List" });
  await expect(row).toHaveCount(1);
  const output = row.getByText("demo-", { exact: false }).or(row.locator("pre")).first();
  await expect(output).toBeHidden();
  await row.locator("summary.row").focus();
  await page.keyboard.press("Enter");
  await expect(output).toBeVisible();
  await expect(row.locator(".visually-hidden").first()).toHaveText(/done/);
});

for (const view of VIEWS) {
  test(`${view}: a failure stays with its reason, and can be retried`, async ({ page, gateway }) => {
    await openInView(page, gateway, view);
    await sendMessage(page, "fail");
    await expect(page.locator(".status.ended")).toBeAttached();
    const failure = page.locator(".page .kind-error").last();
    await expect(failure).toContainText("Failed");
    const reason = await failure.innerText();
    expect(reason.length, reason).toBeGreaterThan("Failed Retry".length + 5);
    await expect(page.locator(".status"), "said once").not.toContainText("Failed");
    await sendMessage(page, "/help");
    // In `sentences` the last text is another one a moment later.
    await expect(page.locator(".page .kind-text", { hasText: "demo" })).not.toHaveCount(0);
    await expect(page.locator(".status.ended")).toBeAttached();
    expect(await failure.innerText()).toBe(reason);
    await failure.getByRole("button", { name: "Retry" }).press("Enter");
    await expect(page.locator(".page .kind-user .message-text")).toHaveText(["fail", "/help", "fail"]);
    await expect(page.locator(".page .kind-error")).toHaveCount(2);
  });
}

test("a run that was ingested has no button to retry it, or the button says why not", async ({ page, gateway }) => {
  const session = await openInView(page, gateway, "steps");
  const failure = page.locator(".page .kind-error");
  const unasked = gateway.ingest(session);
  await unasked.write(modelResponse("msg_a", [reply(0, "Found it.")], "end_turn").slice(0, 3).join(""));
  await unasked.end();
  await expect(failure).toContainText("Cut off");
  await expect(failure.getByRole("button")).toHaveCount(0);
  // Its stream has the person's words, but nobody here can send them again.
  const asked = gateway.ingest(session, "kilo");
  await asked.write('{"id":"u1","type":"user","content":"Go","ts":1}\n{"ts":2,"type":"say","say":"text","text":"Hal","partial":true}\n');
  await asked.end();
  await expect(failure).toHaveCount(2);
  await failure.last().getByRole("button", { name: "Retry" }).click();
  await expect(page.locator(".toast")).toContainText("not started by a person's message");
});

test("transcript: an answered ask says what was decided, and no longer asks", async ({ page, gateway }) => {
  await openInView(page, gateway, "transcript");
  await sendMessage(page, "compute 6*7");
  const ask = page.locator(".page .kind-ask");
  await page.locator(".ask").waitFor();
  await expect(ask).toContainText("?");
  await answerAsk(page, "Allow once");
  await expect(ask).toContainText("Allowed once");
  await expect(ask).not.toContainText(/\?|Waiting/);
  await expect(page.locator(".status.ended")).toBeAttached();
});

test("transcript: a request has a name, and says why it was cancelled", async ({ page, gateway }) => {
  const session = await openInView(page, gateway, "transcript");
  const ingest = gateway.ingest(session, "kilo");
  const request = (ts: number, text: object) => `${JSON.stringify({ type: "say", say: "api_req_started", ts, partial: false, text: JSON.stringify(text) })}\n`;
  await ingest.write(request(1, { cost: 0.25, tokensIn: 10, tokensOut: 4 }));
  await ingest.write(request(2, { cancelReason: "user_cancelled" }));
  await ingest.write(request(3, { cancelReason: "streaming_failed", streamingFailedMessage: "connection reset" }));
  await ingest.end();
  const requests = page.locator(".page .kind-request");
  await expect(requests).toHaveCount(3);
  await expect(requests.nth(0)).toContainText("Request");
  await expect(requests.nth(1)).toContainText("user_cancelled");
  await expect(requests.nth(2)).toContainText("connection reset");
});
