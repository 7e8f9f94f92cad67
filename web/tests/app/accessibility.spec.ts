// Accessibility: axe finds no violations in any state; everything works by keyboard, right to left, at phone
// width and with a screen reader.

import { expect, test, type Page } from "./test.ts";
import { expectNoAxeViolations } from "./axe.ts";
import { answerAsk, holdUntilReleased, pressUntil, runCommand, sendMessage, signIn } from "./page-actions.ts";
import { numberedRun, singleReply } from "./numbered-run.ts";

/** Rules about whole pages, which do not hold while the sidebar makes the rest inert. */
const WHOLE_PAGE_RULES = ["landmark-one-main", "page-has-heading-one"];

// One walk through all states, over 60 lines: setting up each anew would take minutes.
for (const scheme of ["light", "dark"] as const) {
  test(`axe finds no violations, ${scheme}`, async ({ page, gateway, browser }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await signIn(page, gateway);
    await expectNoAxeViolations(page, "the start");
    await sendMessage(page, "compute 6*7");
    await page.locator(".ask").waitFor();
    await sendMessage(page, "chart");
    await expect(page.locator(".queue li")).toHaveCount(1);
    await expectNoAxeViolations(page, "an ask and a queue");
    await page.locator(".queue").getByRole("button", { name: "Edit" }).click();
    await expectNoAxeViolations(page, "a queued message being edited");
    await page.locator(".queue").getByRole("button", { name: "Cancel" }).click();
    await answerAsk(page, "Allow once");
    await expect(page.locator(".queue li")).toHaveCount(0);
    await expect(page.locator(".images img")).toBeVisible();
    for (const view of ["latest", "steps", "bubbles", "transcript", "sentences"]) {
      await page.locator(".view-picker select").selectOption(view);
      await expect(page.locator(`.page.view-${view} .item`).first()).toBeVisible();
      for (const details of await page.locator(".page details").all()) await details.evaluate((of: HTMLDetailsElement) => (of.open = true));
      await expectNoAxeViolations(page, view);
    }
    await page.keyboard.press("Control+k");
    await expectNoAxeViolations(page, "the palette");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Actions for/ }).first().click();
    await expectNoAxeViolations(page, "a menu");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("share");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "New link" }).click();
    await expectNoAxeViolations(page, "sharing");
    const link = await page.getByRole("dialog").getByRole("textbox").inputValue();
    await page.keyboard.press("Escape");
    await page.locator(".images button").first().click();
    await expectNoAxeViolations(page, "an enlarged image");
    await page.goto(page.url().replace("/s/", "/theatre/"));
    await expect(page.locator(".column .item").first()).toBeVisible();
    await expectNoAxeViolations(page, "the replay");
    await page.goto(link);
    await expect(page.locator(".item").first()).toBeVisible();
    await expectNoAxeViolations(page, "a shared chat");
    const stranger = await (await browser.newContext({ colorScheme: scheme })).newPage();
    await stranger.goto(gateway.origin);
    await expect(stranger.locator("h2")).toBeVisible();
    await expectNoAxeViolations(stranger, "the signed-out page");
    await stranger.close();
  });
}

for (const width of [1280, 390]) {
  test(`axe finds no violations in temporary states, ${width} px wide`, async ({ page, gateway }) => {
    await page.setViewportSize({ width, height: 800 });
    await signIn(page, gateway);
    await sendMessage(page, "list");
    await expect(page.locator(".status.ended")).toBeAttached();
    await expectNoAxeViolations(page, "a chat");
    const field = page.getByRole("textbox", { name: "Message" });
    await field.fill("/");
    await expect(page.locator("#slash-menu")).toBeVisible();
    await expectNoAxeViolations(page, "the menu of commands");
    await field.fill("/rename");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog")).toBeVisible();
    await expectNoAxeViolations(page, "renaming");
    await page.keyboard.press("Escape");
    await field.fill("/usage");
    await page.keyboard.press("Enter");
    await expect(page.locator(".toast")).toBeVisible();
    await expectNoAxeViolations(page, "a toast");
    await page.locator(".kind-user").hover();
    await page.getByRole("button", { name: "Edit as branch" }).click();
    await expect(page.locator(".note")).toBeVisible();
    await expectNoAxeViolations(page, "editing as a branch");
    await page.locator(".note").getByRole("button", { name: "Cancel" }).click();
    if (width < 600) {
      await page.getByRole("button", { name: "Show chat list" }).click();
      await expect(page.getByRole("searchbox")).toBeVisible();
      await expectNoAxeViolations(page, "the sidebar over the chat", WHOLE_PAGE_RULES);
      await page.keyboard.press("Escape");
    }
    gateway.cutNetwork();
    await sendMessage(page, "later");
    await expect(page.locator(".unsent")).toBeVisible();
    await expect(page.locator(".connection-note")).toBeVisible();
    await expectNoAxeViolations(page, "offline, with an unsent message");
    gateway.restoreNetwork();
    await expect(page.locator(".unsent")).toHaveCount(0);
  });
}

/** Accessible name of the focused element. */
const focusedName = (page: Page) =>
  page.evaluate(() => {
    const { activeElement } = document;
    return activeElement?.getAttribute("aria-label") ?? activeElement?.textContent?.trim() ?? "";
  });

async function tabTo(page: Page, name: string, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  for (let press = 0; press < 60; press++) {
    if ((await focusedName(page)).startsWith(name)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${name} cannot be reached with ${key}`);
}

/** Presses Enter on the focused button until its ask is answered. The focus is elsewhere then. */
async function pressEnterUntilAnswered(page: Page): Promise<void> {
  const isFocused = () => page.locator(".ask button:focus[aria-disabled=false]").count();
  await pressUntil(() => page.keyboard.press("Enter"), async () => (await isFocused()) === 0);
}

test("the main actions work by keyboard", async ({ page, gateway }) => {
  await signIn(page, gateway);
  await page.keyboard.type("compute 7*7");
  await page.keyboard.press("Enter");
  await page.locator(".ask").waitFor();
  await tabTo(page, "Allow once", "Shift+Tab");
  await pressEnterUntilAnswered(page);
  await expect(page.locator(".page")).toContainText("7*7 = 49");
  await expect(page.getByRole("textbox", { name: "Message" }), "the focus returns to the message field").toBeFocused();
  // Collapsed steps.
  await tabTo(page, "Ran for", "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page.locator(".steps").first()).toHaveAttribute("open", "");
  // The palette: another view.
  await runCommand(page, "transcript");
  await expect(page.locator(".page.view-transcript")).toBeAttached();
  // A slash command.
  await tabTo(page, "Message");
  await page.keyboard.type("/rena");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.type("By hand");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("By hand");
  // The sidebar.
  await tabTo(page, "Search chats", "Shift+Tab");
  await tabTo(page, "By hand");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  expect(await focusedName(page), "the menu returns the focus").toBe("Actions for By hand");
  await page.keyboard.press("Enter");
  await tabTo(page, "Pin");
  await page.keyboard.press("Enter");
  await expect(page.locator("mp-sidebar h2").first()).toHaveText("Pinned");
});

test("by keyboard: the queue, a branch, a link, an export and the replay", async ({ page, gateway, context }) => {
  await signIn(page, gateway);
  await page.keyboard.type("compute 2*3");
  await page.keyboard.press("Enter");
  await page.locator(".ask").waitFor();
  for (const text of ["/help one", "/help two"]) {
    await page.keyboard.type(text);
    // Escape closes the slash menu, if it is open; Enter sends.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
  }
  const waiting = page.locator(".queue .message-text");
  await expect(waiting).toHaveCount(2);
  await tabTo(page, "Move up", "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(waiting).toHaveText(["/help two", "/help one"]);
  await expect.poll(() => focusedName(page), "the first message cannot move up").toBe("Edit");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("/help zwei");
  await tabTo(page, "Save");
  await page.keyboard.press("Enter");
  await expect(waiting).toHaveText(["/help zwei", "/help one"]);
  await expect.poll(() => focusedName(page), "after an edit").toBe("Edit");
  await tabTo(page, "Remove");
  await page.keyboard.press("Enter");
  await expect(waiting).toHaveText(["/help one"]);
  await tabTo(page, "Allow once", "Shift+Tab");
  await pressEnterUntilAnswered(page);
  await expect(page.locator(".kind-user .message-text")).toHaveText(["compute 2*3", "/help one"]);
  await expect(page.locator(".status.ended")).toBeAttached();
  // A branch.
  const first = page.url();
  await tabTo(page, "Edit as branch", "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("/help one");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("list");
  await page.keyboard.press("Enter");
  await expect(page).not.toHaveURL(first);
  await expect(page.locator(".kind-user .message-text")).toHaveText(["compute 2*3", "list"]);
  await expect(page.locator(".status.ended")).toBeAttached();
  // A link.
  await runCommand(page, "share");
  await tabTo(page, "New link");
  await page.keyboard.press("Enter");
  await tabTo(page, "Revoke");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toContainText("No links yet");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  // A file.
  const [file] = await Promise.all([page.waitForEvent("download"), runCommand(page, "markdown")]);
  expect(file.suggestedFilename()).toMatch(/\.md$/);
  // The replay.
  const [replay] = await Promise.all([context.waitForEvent("page"), runCommand(page, "replay")]);
  await expect(replay.locator(".column .item").first()).toBeVisible();
  await tabTo(replay, "First event");
  await replay.keyboard.press("Enter");
  await expect(replay.locator("output")).toHaveText(/^event 0 of/);
  await tabTo(replay, "Event");
  await replay.keyboard.press("ArrowRight");
  await expect(replay.locator("output")).toHaveText(/^event 1 of/);
  await replay.close();
});

test("the message field keeps the focus while the chat is still loading", async ({ page, gateway }) => {
  const { held, release } = holdUntilReleased();
  await page.route("**/assets/chat-*.js", async (route) => {
    await held;
    await route.continue();
  });
  await signIn(page, gateway);
  await page.keyboard.type("list");
  await page.keyboard.press("Enter");
  release();
  await expect(page.locator(".kind-user")).toHaveCount(1);
  await expect(page.getByRole("textbox", { name: "Message" })).toBeFocused();
});

test("on a phone the sidebar covers the chat, traps the focus and closes with Escape", async ({ page, gateway }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await signIn(page, gateway);
  await tabTo(page, "Show chat list");
  await page.keyboard.press("Enter");
  await expect.poll(() => focusedName(page)).toBe("Hide chat list");
  for (let press = 0; press < 30; press++) {
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.closest("main") !== null && document.activeElement !== document.body), "the chat behind it is inert").toBe(false);
  }
  await tabTo(page, "Search chats");
  await page.keyboard.press("Escape");
  await expect(page.locator(".sidebar")).toBeHidden();
  expect(await focusedName(page)).toBe("Show chat list");
});

test("whole sentences are announced, once each", async ({ page, gateway }) => {
  const session = await gateway.newSession("announced");
  await signIn(page, gateway);
  await page.goto(`${gateway.origin}/s/${session}`);
  await page.locator("[data-announcer]").waitFor({ state: "attached" });
  await page.evaluate(() => {
    const announced: string[] = [];
    Object.assign(window, { __announced: announced });
    const region = document.querySelector("[data-announcer]");
    if (region) new MutationObserver(() => announced.push(region.textContent ?? "")).observe(region, { childList: true });
  });
  const announcements = () => page.evaluate(() => (window as unknown as { __announced: string[] }).__announced);
  const ingest = gateway.ingest(session);
  for (const piece of numberedRun()) {
    await ingest.write(piece);
    // A pause at the ends of some sentences, until they are announced.
    const [pauseAt] = /w0[48]0/.exec(piece) ?? [];
    if (pauseAt) await expect.poll(async () => (await announcements()).join(" ")).toContain(pauseAt);
  }
  await ingest.end();
  await expect(page.locator(".status.ended")).toBeAttached();
  // What is announced of another run comes after all of this one.
  const next = gateway.ingest(session);
  await next.write(singleReply("That was all."));
  await next.end();
  await expect.poll(async () => (await announcements()).at(-1)).toContain("That was all.");
  const announced = await announcements();
  const words = announced.join(" ").match(/\bw\d{3}\b/g) ?? [];
  expect(words.length).toBe(120);
  expect(new Set(words).size, "each once").toBe(120);
  expect(announced.length, "few announcements").toBeLessThan(20);
  for (const one of announced.slice(0, -1)) expect(one.trim()).toMatch(/\.$|you$/);
});

test("an ask and an ending are announced once, in one live region", async ({ page, gateway }) => {
  await signIn(page, gateway);
  await page.evaluate(() => {
    const announced: string[] = [];
    Object.assign(window, { __announced: announced });
    const record = (records: MutationRecord[]) => {
      const live = "[aria-live=polite], [aria-live=assertive], [role=status], [role=alert]";
      const regions = new Set(records.map(({ target }) => (target instanceof Element ? target : target.parentElement)?.closest(live)));
      for (const region of regions) if (region?.textContent?.trim()) announced.push(region.textContent.trim());
    };
    new MutationObserver(record).observe(document.body, { childList: true, characterData: true, subtree: true });
  });
  await sendMessage(page, "compute 8*8");
  await page.locator(".ask").waitFor();
  const announced = () => page.evaluate(() => (window as unknown as { __announced: string[] }).__announced.join("\n"));
  const times = async (text: string) => (await announced()).split(text).length - 1;
  await expect.poll(() => times("Allow run_command?")).toBe(1);
  await page.getByRole("button", { name: "Stop" }).click();
  await expect.poll(() => times("Cancelled")).toBe(1);
  await sendMessage(page, "list");
  await expect(page.locator(".kind-user")).toHaveCount(2);
  expect([await times("Allow run_command?"), await times("Cancelled")]).toEqual([1, 1]);
});

test("at phone width nothing overflows, and right-to-left layout is mirrored", async ({ page, gateway }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await signIn(page, gateway);
  await sendMessage(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached();
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(await overflow()).toBe(0);
  await page.getByRole("button", { name: "Show chat list" }).click();
  await expect(page.getByRole("searchbox")).toBeVisible();
  await page.getByRole("button", { name: "Hide chat list" }).click();
  await page.evaluate(() => (document.documentElement.dir = "rtl"));
  expect(await overflow()).toBe(0);
  const { x, width } = (await page.locator(".kind-user .message-text").boundingBox()) ?? { x: 0, width: 0 };
  expect(x + width / 2, "user messages are on the left").toBeLessThan(195);
});
