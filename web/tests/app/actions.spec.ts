// User actions: asks, queue, stop, branches, sessions, sharing, exports.

import { expect, test, type Page } from "./test.ts";
import { readFileSync } from "node:fs";
import type { TestGateway } from "./gateway.ts";
import { advanceClock, answerAsk, holdUntilReleased, runCommand, sendMessage, signIn } from "./page-actions.ts";

let gateway: TestGateway;
test.beforeAll(({ gateway: started }) => void (gateway = started));

test.beforeEach(async ({ page }) => {
  await signIn(page, gateway);
});

test("an ask shows the exact command, and can be answered after a moment", async ({ page }) => {
  await sendMessage(page, "compute 6*7");
  const ask = page.locator(".ask");
  await expect(ask).toBeVisible();
  await expect(ask.locator("pre")).toHaveText("echo $((6*7))");
  await answerAsk(page, "Allow once");
  await expect(page.locator(".page")).toContainText("6*7 = 42");
  await expect(ask).toBeHidden();
});

test("an ask ignores input for its first 350 ms", async ({ page }) => {
  // Clicked the moment it appears, however slow the machine is.
  await page.evaluate(() => {
    const press = (_: unknown, watching: MutationObserver) => {
      const button = document.querySelector<HTMLButtonElement>(".ask button.primary");
      if (!button) return;
      watching.disconnect();
      button.click();
      button.classList.add("pressed-early");
    };
    new MutationObserver(press).observe(document.body, { childList: true, subtree: true });
  });
  await sendMessage(page, "compute 1+1");
  await page.locator(".ask .pressed-early").waitFor();
  await expect(page.locator(".ask .pressed-early"), "it was neither answered nor sent").toHaveAttribute("aria-disabled", "false");
  await answerAsk(page, "Deny");
  await expect(page.locator(".ask")).toBeHidden();
  await expect(page.locator(".status.ended")).toBeAttached();
  await expect(page.locator(".page"), "the first press did not allow it").not.toContainText("1+1 = 2");
});

test("two tabs answer the same ask: one wins, the other is notified", async ({ page, context }) => {
  await page.clock.install();
  await page.reload();
  await sendMessage(page, "compute 2+2");
  await page.locator(".ask").waitFor();
  const other = await context.newPage();
  await other.clock.install();
  await other.goto(page.url());
  await other.locator(".ask").waitFor();
  // Past the time for which an ask ignores input, on the clocks of both pages.
  for (const tab of [page, other]) await advanceClock(tab, 400);
  // Simultaneously: the second answer arrives after the first was accepted.
  const press = (tab: Page, name: string) => tab.locator(".ask").getByRole("button", { name }).elementHandle();
  const [allow, deny] = [await press(page, "Allow once"), await press(other, "Deny")];
  await Promise.all([allow, deny].map((button) => button?.evaluate((element: HTMLElement) => element.click())));
  await expect(page.locator(".ask")).toBeHidden();
  await expect(other.locator(".ask")).toBeHidden();
  const toasts = async (tab: Page) => tab.locator(".toast").allInnerTexts();
  await expect.poll(async () => [...(await toasts(page)), ...(await toasts(other))].join()).toMatch(/Already answered|another window/);
});

test("messages written during a run are queued and can be reordered, edited and removed", async ({ page }) => {
  await sendMessage(page, "compute 3+3");
  await page.locator(".ask").waitFor();
  for (const text of ["one", "two", "three"]) await sendMessage(page, text);
  const queued = page.locator(".queue li");
  await expect(queued).toHaveCount(3);
  await queued.nth(1).getByRole("button", { name: "Move up" }).click();
  await expect(queued.locator(".message-text")).toHaveText(["two", "one", "three"]);
  await queued.nth(1).getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edit" }).fill("uno");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(queued.locator(".message-text")).toHaveText(["two", "uno", "three"]);
  await queued.nth(2).getByRole("button", { name: "Remove" }).click();
  await expect(queued).toHaveCount(2);
  await page.reload();
  await expect(queued.locator(".message-text")).toHaveText(["two", "uno"]);
  await answerAsk(page, "Deny");
  await expect(queued).toHaveCount(0);
  await expect(page.locator(".kind-user .message-text")).toHaveText(["compute 3+3", "two", "uno"]);
});

test("the edit of a queued message whose run begins moves to the message field", async ({ page }) => {
  await sendMessage(page, "compute 3+4");
  await page.locator(".ask").waitFor();
  await sendMessage(page, "list");
  const queued = page.locator(".queue li");
  await queued.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edit" }).fill("list, but differently");
  const session = page.url().split("/s/")[1];
  const { run } = await gateway.callApi<{ run: string }>("GET", `/v1/sessions/${session}`);
  await gateway.callApi("POST", `/v1/runs/${run}/cancel`, {});
  const field = page.getByRole("textbox", { name: "Message" });
  await expect(field).toHaveValue("list, but differently");
  await expect(field).toBeFocused();
  await expect(page.locator(".toast")).toContainText("Too late to edit");
});

test("the edit of a queued message does not move to another chat", async ({ page }) => {
  await sendMessage(page, "compute 3+6");
  await page.locator(".ask").waitFor();
  await sendMessage(page, "list");
  await page.locator(".queue li").getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edit" }).fill("list, but differently");
  const other = await gateway.newSession("elsewhere");
  await page.locator("mp-sidebar li", { hasText: "elsewhere" }).getByRole("link").click();
  await page.waitForURL(`**/s/${other}`);
  const field = page.getByRole("textbox", { name: "Message" });
  await expect(page.locator("h1")).toHaveText("elsewhere");
  await expect(page.locator(".queue")).toHaveCount(0);
  await expect(field).toHaveValue("");
  await page.goBack();
  await expect(field).toHaveValue("list, but differently");
  await expect(page.locator(".queue .message-text")).toHaveText("list");
});

test("a rejected edit of a queued message is appended to the message field", async ({ page }) => {
  await sendMessage(page, "compute 3+5");
  await page.locator(".ask").waitFor();
  await sendMessage(page, "list");
  await page.locator(".queue li").getByRole("button", { name: "Edit" }).click();
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill("a thought");
  await page.route("**/queue", (route) =>
    route.request().method() === "PUT" ? route.fulfill({ status: 409, json: { error: { code: "queue_changed", message: "It changed." } } }) : route.fallback(),
  );
  await page.getByRole("textbox", { name: "Edit" }).fill("list more");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(field).toHaveValue("a thought\n\nlist more");
  await expect(page.locator(".queue .message-text")).toHaveText("list");
});

test("a message that is sent at once is never shown as unsent", async ({ page }) => {
  await page.evaluate(() => {
    // No message becomes slow here, however slow the machine is.
    const { setTimeout: started } = window;
    const restore = () => Object.assign(window, { setTimeout: started });
    Object.assign(window, { setTimeout: (work: () => void, ms?: number) => (ms === 500 ? 0 : started(work, ms)) });
    const seen: string[] = [];
    Object.assign(window, { __unsent: seen, __restoreTimers: restore });
    const look = () => {
      for (const unsent of document.querySelectorAll<HTMLElement>(".unsent")) seen.push(unsent.innerText);
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  });
  await sendMessage(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached();
  await sendMessage(page, "search pond");
  await expect(page.locator(".kind-user")).toHaveCount(2);
  expect(await page.evaluate(() => (window as unknown as { __unsent: string[] }).__unsent)).toEqual([]);
  await page.evaluate(() => (window as unknown as { __restoreTimers: () => void }).__restoreTimers());
  // A slow one is shown as being sent.
  const { held, release } = holdUntilReleased();
  await page.route("**/messages", async (route) => {
    await held;
    await route.continue();
  });
  await sendMessage(page, "slow");
  await expect(page.locator(".unsent")).toContainText("Sending");
  release();
  await expect(page.locator(".unsent")).toHaveCount(0);
});

test("a rejected message shows why and can be moved back to the field", async ({ page }) => {
  await sendMessage(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached();
  await page.route("**/messages", (route) => route.fulfill({ status: 409, json: { error: { code: "queue_full", message: "The queue is full." } } }));
  await sendMessage(page, "one too many");
  await expect(page.locator(".unsent")).toContainText("The queue is full.");
  await page.locator(".unsent").getByRole("button", { name: "Move back" }).click();
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("one too many");
  await expect(page.locator(".unsent")).toHaveCount(0);
});

test("signing out while writing shows how to sign in, and nothing is lost", async ({ page }) => {
  await sendMessage(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached();
  let tries = 0;
  await page.route("**/messages", (route) => {
    tries += 1;
    return route.fulfill({ status: 401, json: { error: { code: "unauthorized", message: "Not signed in." } } });
  });
  await sendMessage(page, "search later");
  await expect(page.locator("body")).toContainText("millpond login");
  expect(tries).toBe(1);
  await page.unroute("**/messages");
  await page.reload();
  await expect(page.locator(".kind-user .message-text")).toHaveText(["list", "search later"]);
});

test("stop cancels the run that is shown, not one that began since", async ({ page }) => {
  await sendMessage(page, "compute 4+5");
  await page.locator(".ask").waitFor();
  const session = page.url().split("/s/")[1];
  const { run } = await gateway.callApi<{ run: string }>("GET", `/v1/sessions/${session}`);
  // As if the next run had begun since the page was updated.
  await page.route(`**/v1/sessions/${session}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ json: { ...(await response.json()), run: "01JZZZZZZZZZZZZZZZZZZZZZZZ" } });
  });
  const [asked] = await Promise.all([page.waitForRequest(/\/cancel$/), page.getByRole("button", { name: "Stop" }).click()]);
  expect(asked.url()).toContain(run);
  await expect(page.locator(".status")).toContainText("Cancelled");
});

test("stop cancels the run, and retry starts it again", async ({ page }) => {
  await sendMessage(page, "compute 4+4");
  await page.locator(".ask").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.locator(".status")).toContainText("Cancelled");
  await page.getByRole("button", { name: "Retry" }).click();
  await expect(page.locator(".ask")).toBeVisible();
  await expect(page.locator(".kind-user .message-text")).toHaveCount(2);
});

test("an edited message creates a branch; the original chat is unchanged", async ({ page }) => {
  await sendMessage(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached();
  await sendMessage(page, "search pond");
  await expect(page.locator(".kind-user .message-text")).toHaveCount(2);
  const first = page.url();
  await page.locator(".kind-user").nth(1).hover();
  await page.locator(".kind-user").nth(1).getByRole("button", { name: "Edit as branch" }).click();
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("search pond");
  await sendMessage(page, "search mill");
  await expect(page).not.toHaveURL(first);
  await expect(page.locator(".kind-user .message-text")).toHaveText(["list", "search mill"]);
  await page.goto(first);
  await expect(page.locator(".kind-user .message-text")).toHaveText(["list", "search pond"]);
});

test("editing a message that joined a run keeps what came before it", async ({ page }) => {
  await sendMessage(page, "compute 5+6");
  await page.locator(".ask").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("and be brief");
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator(".queue li")).toHaveCount(1);
  await page.locator(".ask").getByRole("button", { name: "Allow once" }).click({ delay: 400 });
  const messages = page.locator(".kind-user .message-text");
  await expect(messages).toHaveText(["compute 5+6", "and be brief"]);
  await expect(page.locator(".status.ended")).toBeAttached();
  const runs = await page.locator(".kind-user").evaluateAll((all) => all.map((element) => (element as HTMLElement).dataset["run"]));
  expect(runs[0], "both are in the same run").toBe(runs[1]);
  const first = page.url();
  await page.locator(".kind-user").nth(1).hover();
  await page.locator(".kind-user").nth(1).getByRole("button", { name: "Edit as branch" }).click();
  await sendMessage(page, "list");
  await expect(page).not.toHaveURL(first);
  await expect(messages).toHaveText(["compute 5+6", "list"]);
});

test("a message written offline survives a reload and is sent once", async ({ page }) => {
  await sendMessage(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached();
  gateway.cutNetwork();
  await sendMessage(page, "search later");
  await expect(page.locator(".unsent")).toContainText("search later");
  gateway.restoreNetwork();
  await page.reload();
  await expect(page.locator(".unsent")).toHaveCount(0);
  await expect(page.locator(".kind-user .message-text")).toHaveText(["list", "search later"]);
});

test("chats can be searched, renamed, pinned, archived, deleted and restored", async ({ page }) => {
  await sendMessage(page, "list the herons");
  await expect(page.locator(".status.ended")).toBeAttached();
  const chat = (name: string) => page.locator("mp-sidebar li", { hasText: name });
  const runMenuAction = async (name: string, action: string) => {
    await chat(name).getByRole("button", { name: /Actions/ }).click();
    await chat(name).getByRole("button", { name: action, exact: true }).click();
  };
  await runMenuAction("list the herons", "Rename");
  await page.getByRole("dialog").getByRole("textbox").fill("Herons");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Herons");
  await runMenuAction("Herons", "Pin");
  await expect(page.locator("mp-sidebar h2").first()).toHaveText("Pinned");
  await page.getByRole("searchbox").fill("heron");
  await expect(page.locator("mp-sidebar li")).toHaveCount(1);
  await page.getByRole("searchbox").fill("");
  await runMenuAction("Herons", "Archive");
  await expect(chat("Herons")).toHaveCount(0);
  await page.getByRole("button", { name: "Show archive" }).click();
  await runMenuAction("Herons", "Unarchive");
  await page.getByRole("button", { name: "Back to chats" }).click();
  await runMenuAction("Herons", "Delete");
  await expect(chat("Herons")).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(chat("Herons")).toHaveCount(1);
});

test("a shared link is read-only and stops working when revoked", async ({ page, browser }) => {
  await sendMessage(page, "chart");
  await expect(page.locator(".status.ended")).toBeAttached();
  await runCommand(page, "share");
  await page.getByRole("button", { name: "New link" }).click();
  const link = await page.getByRole("dialog").getByRole("textbox").inputValue();
  const guest = await (await browser.newContext()).newPage();
  await guest.goto(link);
  await expect(guest.locator(".kind-user .message-text")).toHaveText("chart");
  await guest.getByRole("button", { name: "Enlarge image" }).click();
  await expect(guest.getByRole("dialog").getByRole("img")).toBeVisible();
  await guest.keyboard.press("Escape");
  // An image is downloaded once, however often it is rendered.
  const fetched: string[] = [];
  guest.on("request", (request) => request.url().includes("/blobs/") && fetched.push(request.url()));
  await page.keyboard.press("Escape");
  await sendMessage(page, "chart");
  await expect(guest.locator(".images img")).toHaveCount(2);
  await expect(guest.locator(".status.ended")).toBeAttached();
  expect(fetched.length).toBe(new Set(fetched).size);
  await runCommand(page, "share");
  await expect(guest.getByRole("textbox", { name: "Message" })).toHaveCount(0);
  await page.getByRole("button", { name: "Revoke" }).click();
  await expect(guest.locator("body")).toContainText("no longer works");
  await guest.close();
});

test("exports contain what the view shows, without secrets", async ({ page }) => {
  await sendMessage(page, "search sk-abcdefghijklmnop1234");
  await expect(page.locator(".status.ended")).toBeAttached();
  for (const [name, end] of [["markdown", "md"], ["json", "json"], ["html", "html"]] as const) {
    const [file] = await Promise.all([page.waitForEvent("download"), runCommand(page, name)]);
    expect(file.suggestedFilename()).toMatch(new RegExp(`\\.${end}$`));
    const text = readFileSync(await file.path(), "utf8");
    expect(text).toContain("[redacted]");
    expect(text).not.toContain("sk-abcdefghijklmnop1234");
    if (end === "html") expect(text).not.toContain("<script");
    if (end === "json") expect(JSON.parse(text)).toHaveProperty("items");
  }
});

test("language and theme can be chosen", async ({ page }) => {
  await runCommand(page, "polski");
  await expect(page.getByRole("button", { name: "Nowa rozmowa", exact: true })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", "pl");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("dark");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.getByRole("button", { name: "Nowa rozmowa", exact: true })).toBeVisible();
});

test("the signed-out page shows how to sign in", async ({ browser }) => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(gateway.origin);
  await expect(page.locator("body")).toContainText("millpond login");
  await page.goto(`${gateway.origin}/login?code=mp_${"0".repeat(64)}`);
  await expect(page.locator("body")).toContainText("already used");
  await page.close();
});

test("the scroll position is kept, and follows the end only at the end", async ({ page }) => {
  const session = await gateway.newSession("long");
  const many = Array.from({ length: 60 }, (_, n) => `Paragraph ${n}.`).join("\n\n");
  const ingest = gateway.ingest(session, "openai-chat");
  const delta = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
  await ingest.write(delta(many));
  await page.goto(`${gateway.origin}/s/${session}`);
  const scroller = page.locator(".scroller");
  await expect(scroller).toContainText("Paragraph 59");
  const fromEnd = () => scroller.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop);
  await expect.poll(fromEnd).toBeLessThanOrEqual(8);
  await ingest.write(delta("\n\nMore at the end."));
  await expect(scroller).toContainText("More at the end.");
  await expect.poll(fromEnd).toBeLessThanOrEqual(8);
  await scroller.hover();
  await page.mouse.wheel(0, -600);
  await expect(page.getByRole("button", { name: /Scroll to end|New messages/ })).toBeVisible();
  const top = await scroller.evaluate((element) => element.scrollTop);
  for (let n = 0; n < 20; n++) await ingest.write(delta(`\n\nStill more ${n}.`));
  await expect(scroller).toContainText("Still more 19.");
  await ingest.write("data: [DONE]\n\n");
  await ingest.end();
  await expect(page.locator(".status.ended")).toBeAttached();
  expect(await scroller.evaluate((element) => element.scrollTop)).toBe(top);
  await page.getByRole("button", { name: "New messages" }).click();
  await expect.poll(fromEnd).toBeLessThanOrEqual(8);
});
