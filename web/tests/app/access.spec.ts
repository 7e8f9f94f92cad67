// For everyone: axe finds nothing in any state, everything works without a mouse, in both
// directions, at phone width, and a screen reader hears sentences.

import { expect, test, type Page } from "./test.ts";
import { expectNoBarriers } from "./axe.ts";
import type { TestGateway } from "./gateway.ts";
import { pieces } from "./stream.ts";

/** Rules about a whole page, which one that is closed off behind a drawer is not. */
const OF_WHOLE_PAGES = ["landmark-one-main", "page-has-heading-one"];

async function enter(page: Page, gateway: TestGateway): Promise<void> {
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
}

async function send(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

for (const scheme of ["light", "dark"] as const) {
  test(`axe finds nothing, ${scheme}`, async ({ page, gateway, browser }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await enter(page, gateway);
    await expectNoBarriers(page, "the start");
    await send(page, "compute 6*7");
    await page.locator(".ask").waitFor();
    await send(page, "chart");
    await expect(page.locator(".queue li")).toHaveCount(1);
    await expectNoBarriers(page, "an ask and a queue");
    await page.locator(".queue").getByRole("button", { name: "Edit" }).click();
    await expectNoBarriers(page, "a message being changed");
    await page.locator(".queue").getByRole("button", { name: "Cancel" }).click();
    await page.waitForTimeout(400);
    await page.locator(".ask").getByRole("button", { name: "Allow once" }).click();
    await expect(page.locator(".queue li")).toHaveCount(0, { timeout: 20_000 });
    await expect(page.locator(".pictures img")).toBeVisible({ timeout: 20_000 });
    for (const view of ["latest", "steps", "bubbles", "transcript", "sentences"]) {
      await page.locator(".view-picker select").selectOption(view);
      await expect(page.locator(`.page.view-${view} .item`).first()).toBeVisible();
      for (const details of await page.locator(".page details").all()) await details.evaluate((of: HTMLDetailsElement) => (of.open = true));
      await expectNoBarriers(page, view);
    }
    await page.keyboard.press("Control+k");
    await expectNoBarriers(page, "the palette");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Actions for/ }).first().click();
    await expectNoBarriers(page, "a menu");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("share");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "New link" }).click();
    await expectNoBarriers(page, "sharing");
    const link = await page.getByRole("dialog").getByRole("textbox").inputValue();
    await page.keyboard.press("Escape");
    await page.locator(".pictures button").first().click();
    await expectNoBarriers(page, "a picture");
    await page.goto(page.url().replace("/s/", "/theatre/"));
    await expect(page.locator(".column .item").first()).toBeVisible();
    await expectNoBarriers(page, "the theatre");
    await page.goto(link);
    await expect(page.locator(".item").first()).toBeVisible();
    await expectNoBarriers(page, "a shared chat");
    const stranger = await (await browser.newContext({ colorScheme: scheme })).newPage();
    await stranger.goto(gateway.origin);
    await expect(stranger.locator("h2")).toBeVisible();
    await expectNoBarriers(stranger, "the doorstep");
    await stranger.close();
  });
}

for (const width of [1280, 390]) {
  test(`axe finds nothing in what comes and goes, ${width} px wide`, async ({ page, gateway }) => {
    await page.setViewportSize({ width, height: 800 });
    await enter(page, gateway);
    await send(page, "list");
    await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
    await expectNoBarriers(page, "a chat");
    const field = page.getByRole("textbox", { name: "Message" });
    await field.fill("/");
    await expect(page.locator("#slash-menu")).toBeVisible();
    await expectNoBarriers(page, "the menu of commands");
    await field.fill("/rename");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog")).toBeVisible();
    await expectNoBarriers(page, "renaming");
    await page.keyboard.press("Escape");
    await field.fill("/usage");
    await page.keyboard.press("Enter");
    await expect(page.locator(".toast")).toBeVisible();
    await expectNoBarriers(page, "a toast");
    await page.locator(".of-user").hover();
    await page.getByRole("button", { name: "Edit as a branch" }).click();
    await expect(page.locator(".note")).toBeVisible();
    await expectNoBarriers(page, "editing as a branch");
    await page.locator(".note").getByRole("button", { name: "Cancel" }).click();
    if (width < 600) {
      await page.getByRole("button", { name: "Show the list of chats" }).click();
      await expect(page.getByRole("searchbox")).toBeVisible();
      await expectNoBarriers(page, "the list over the chat", OF_WHOLE_PAGES);
      await page.keyboard.press("Escape");
    }
    gateway.cut();
    await send(page, "later");
    await expect(page.locator(".letter")).toBeVisible();
    await expect(page.locator(".line")).toBeVisible({ timeout: 20_000 });
    await expectNoBarriers(page, "no network, and a letter");
    gateway.mend();
    await expect(page.locator(".letter")).toHaveCount(0, { timeout: 20_000 });
  });
}

/** What a screen reader would call what has the focus. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement } = document;
    return activeElement?.getAttribute("aria-label") ?? activeElement?.textContent?.trim() ?? "";
  });

async function tabTo(page: Page, name: string, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  for (let press = 0; press < 60; press++) {
    if ((await focused(page)).startsWith(name)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${name} cannot be reached with ${key}`);
}

const palette = async (page: Page, command: string) => {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(command);
  await page.keyboard.press("Enter");
};

test("everything can be done without a mouse", async ({ page, gateway }) => {
  await enter(page, gateway);
  await page.keyboard.type("compute 7*7");
  await page.keyboard.press("Enter");
  await page.locator(".ask").waitFor();
  await page.waitForTimeout(400);
  await tabTo(page, "Allow once", "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page.locator(".page")).toContainText("7*7 = 49", { timeout: 20_000 });
  await expect(page.getByRole("textbox", { name: "Message" }), "the ask is gone, and writing goes on").toBeFocused();
  // The fold of earlier steps.
  await tabTo(page, "Ran for", "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page.locator(".steps").first()).toHaveAttribute("open", "");
  // The palette, another view, and back to writing.
  await palette(page, "transcript");
  await expect(page.locator(".page.view-transcript")).toBeAttached();
  // A command after a slash.
  await tabTo(page, "Message");
  await page.keyboard.type("/rena");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.type("By hand");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("By hand");
  // The list of chats.
  await tabTo(page, "Search chats", "Shift+Tab");
  await tabTo(page, "By hand");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  expect(await focused(page), "the menu gives the focus back").toBe("Actions for By hand");
  await page.keyboard.press("Enter");
  await tabTo(page, "Pin");
  await page.keyboard.press("Enter");
  await expect(page.locator("mp-sidebar h2").first()).toHaveText("Pinned");
});

test("without a mouse: the queue, a branch, a link, a file and the theatre", async ({ page, gateway, context }) => {
  await enter(page, gateway);
  await page.keyboard.type("compute 2*3");
  await page.keyboard.press("Enter");
  await page.locator(".ask").waitFor();
  for (const text of ["/help one", "/help two"]) {
    await page.keyboard.type(text);
    // Once for the menu, if there is one, which the second closes.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
  }
  const waiting = page.locator(".queue .said");
  await expect(waiting).toHaveCount(2);
  await tabTo(page, "Move up", "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(waiting).toHaveText(["/help two", "/help one"]);
  await expect.poll(() => focused(page), "it cannot go further up").toBe("Edit");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("/help zwei");
  await tabTo(page, "Save");
  await page.keyboard.press("Enter");
  await expect(waiting).toHaveText(["/help zwei", "/help one"]);
  await expect.poll(() => focused(page), "after a change").toBe("Edit");
  await tabTo(page, "Remove");
  await page.keyboard.press("Enter");
  await expect(waiting).toHaveText(["/help one"]);
  await tabTo(page, "Allow once", "Shift+Tab");
  await page.waitForTimeout(400);
  await page.keyboard.press("Enter");
  await expect(page.locator(".of-user .said")).toHaveText(["compute 2*3", "/help one"], { timeout: 20_000 });
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  // A branch.
  const first = page.url();
  await tabTo(page, "Edit as a branch", "Shift+Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("/help one");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("list");
  await page.keyboard.press("Enter");
  await expect(page).not.toHaveURL(first);
  await expect(page.locator(".of-user .said")).toHaveText(["compute 2*3", "list"]);
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  // A link.
  await palette(page, "share");
  await tabTo(page, "New link");
  await page.keyboard.press("Enter");
  await tabTo(page, "Revoke");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toContainText("No links so far");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  // A file.
  const [file] = await Promise.all([page.waitForEvent("download"), palette(page, "markdown")]);
  expect(file.suggestedFilename()).toMatch(/\.md$/);
  // The theatre.
  const [theatre] = await Promise.all([context.waitForEvent("page"), palette(page, "theatre")]);
  await expect(theatre.locator(".column .item").first()).toBeVisible();
  await tabTo(theatre, "To the beginning");
  await theatre.keyboard.press("Enter");
  await expect(theatre.locator("output")).toHaveText(/^event 0 of/);
  await tabTo(theatre, "Event");
  await theatre.keyboard.press("ArrowRight");
  await expect(theatre.locator("output")).toHaveText(/^event 1 of/);
  await theatre.close();
});

test("who writes a first message can go on writing, however late the chat itself is loaded", async ({ page, gateway }) => {
  await page.route("**/assets/chat-*.js", async (route) => {
    await new Promise((late) => setTimeout(late, 1500));
    await route.continue();
  });
  await enter(page, gateway);
  await page.keyboard.type("list");
  await page.keyboard.press("Enter");
  await expect(page.locator(".of-user")).toHaveCount(1, { timeout: 20_000 });
  await expect(page.getByRole("textbox", { name: "Message" })).toBeFocused();
});

test("on a phone the list lies over the chat, keeps the focus, and goes with Escape", async ({ page, gateway }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await enter(page, gateway);
  await tabTo(page, "Show the list of chats");
  await page.keyboard.press("Enter");
  await expect.poll(() => focused(page)).toBe("Hide the list of chats");
  for (let press = 0; press < 30; press++) {
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.closest("main") !== null && document.activeElement !== document.body), "what is behind is not reached").toBe(false);
  }
  await tabTo(page, "Search chats");
  await page.keyboard.press("Escape");
  await expect(page.locator(".side")).toBeHidden();
  expect(await focused(page)).toBe("Show the list of chats");
});

test("a screen reader hears sentences, once each, and not tokens", async ({ page, gateway }) => {
  const session = await gateway.newSession("heard");
  await enter(page, gateway);
  await page.goto(`${gateway.origin}/s/${session}`);
  await page.locator("[data-announcer]").waitFor({ state: "attached" });
  await page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(window, { __heard: heard });
    const region = document.querySelector("[data-announcer]");
    if (region) new MutationObserver(() => heard.push(region.textContent ?? "")).observe(region, { childList: true });
  });
  const ingest = gateway.ingest(session);
  for (const piece of pieces()) {
    await ingest.write(piece);
    await page.waitForTimeout(15);
  }
  await ingest.end();
  await expect(page.locator(".status.ended")).toBeAttached();
  await page.waitForTimeout(1500);
  const heard = await page.evaluate(() => (window as unknown as { __heard: string[] }).__heard);
  const words = heard.join(" ").match(/\bw\d{3}\b/g) ?? [];
  expect(words.length).toBe(120);
  expect(new Set(words).size, "each once").toBe(120);
  expect(heard.length, "few announcements").toBeLessThan(20);
  for (const one of heard.slice(0, -1)) expect(one.trim()).toMatch(/\.$|you$/);
});

test("an ask and an ending are said once, by one voice", async ({ page, gateway }) => {
  await enter(page, gateway);
  await page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(window, { __heard: heard });
    const listen = (records: MutationRecord[]) => {
      const live = "[aria-live=polite], [aria-live=assertive], [role=status], [role=alert]";
      const regions = new Set(records.map(({ target }) => (target instanceof Element ? target : target.parentElement)?.closest(live)));
      for (const region of regions) if (region?.textContent?.trim()) heard.push(region.textContent.trim());
    };
    new MutationObserver(listen).observe(document.body, { childList: true, characterData: true, subtree: true });
  });
  await send(page, "compute 8*8");
  await page.locator(".ask").waitFor();
  const heard = () => page.evaluate(() => (window as unknown as { __heard: string[] }).__heard.join("\n"));
  const times = async (said: string) => (await heard()).split(said).length - 1;
  await expect.poll(() => times("Waiting for you")).toBe(1);
  await page.getByRole("button", { name: "Stop" }).click();
  await expect.poll(() => times("Cancelled")).toBe(1);
  await send(page, "list");
  await expect(page.locator(".of-user")).toHaveCount(2);
  expect([await times("Waiting for you"), await times("Cancelled")]).toEqual([1, 1]);
});

test("at phone width nothing is cut off, and from right to left all is mirrored", async ({ page, gateway }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await enter(page, gateway);
  await send(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(await overflow()).toBe(0);
  await page.getByRole("button", { name: "Show the list of chats" }).click();
  await expect(page.getByRole("searchbox")).toBeVisible();
  await page.getByRole("button", { name: "Hide the list of chats" }).click();
  await page.evaluate(() => (document.documentElement.dir = "rtl"));
  expect(await overflow()).toBe(0);
  const { x, width } = (await page.locator(".of-user .said").boundingBox()) ?? { x: 0, width: 0 };
  expect(x + width / 2, "what the person said is on the left").toBeLessThan(195);
});
