// What a person does: asks, the queue, stopping, branching, sessions, sharing, exporting.

import { expect, test, type Page } from "./test.ts";
import { readFileSync } from "node:fs";
import type { TestGateway } from "./gateway.ts";

let gateway: TestGateway;
test.beforeAll(({ gateway: started }) => void (gateway = started));

test.beforeEach(async ({ page }) => {
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
});

async function send(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

const command = async (page: Page, name: string) => {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
};

test("an ask shows exactly what would run, and keys in the first moment do not answer it", async ({ page }) => {
  await send(page, "compute 6*7");
  const ask = page.locator(".ask");
  await expect(ask).toBeVisible();
  await expect(ask.locator("pre")).toHaveText("echo $((6*7))");
  await page.waitForTimeout(400);
  await ask.getByRole("button", { name: "Allow once" }).click();
  await expect(page.locator(".page")).toContainText("6*7 = 42");
  await expect(ask).toBeHidden();
});

test("an ask is deaf for its first 350 ms", async ({ page }) => {
  // Pressed in the moment it appears, as by somebody who was typing, however slow the machine is.
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
  await send(page, "compute 1+1");
  await page.locator(".ask .pressed-early").waitFor();
  await page.waitForTimeout(400);
  await expect(page.locator(".ask .pressed-early"), "it is not answered, nor on its way").toHaveAttribute("aria-disabled", "false");
  await page.locator(".ask").getByRole("button", { name: "Deny" }).click();
  await expect(page.locator(".ask")).toBeHidden();
});

test("two tabs answer the same ask: one wins, the other is told", async ({ page, context }) => {
  await send(page, "compute 2+2");
  await page.locator(".ask").waitFor();
  const other = await context.newPage();
  await other.goto(page.url());
  await other.locator(".ask").waitFor();
  await page.waitForTimeout(400);
  await other.waitForTimeout(400);
  // At the same moment: the second is on its way when the first is taken, or finds that it was.
  const press = (tab: Page, name: string) => tab.locator(".ask").getByRole("button", { name }).elementHandle();
  const [allow, deny] = [await press(page, "Allow once"), await press(other, "Deny")];
  await Promise.all([allow, deny].map((button) => button?.evaluate((of: HTMLElement) => of.click())));
  await expect(page.locator(".ask")).toBeHidden();
  await expect(other.locator(".ask")).toBeHidden();
  const told = async (tab: Page) => tab.locator(".toast").allInnerTexts();
  await expect.poll(async () => [...(await told(page)), ...(await told(other))].join()).toMatch(/answered already|another window/);
});

test("messages written while a run goes wait, can be put in order, changed and taken out", async ({ page }) => {
  await send(page, "compute 3+3");
  await page.locator(".ask").waitFor();
  for (const text of ["one", "two", "three"]) await send(page, text);
  const waiting = page.locator(".queue li");
  await expect(waiting).toHaveCount(3);
  await waiting.nth(1).getByRole("button", { name: "Move up" }).click();
  await expect(waiting.locator(".said")).toHaveText(["two", "one", "three"]);
  await waiting.nth(1).getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edit" }).fill("uno");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(waiting.locator(".said")).toHaveText(["two", "uno", "three"]);
  await waiting.nth(2).getByRole("button", { name: "Remove" }).click();
  await expect(waiting).toHaveCount(2);
  await page.reload();
  await expect(waiting.locator(".said")).toHaveText(["two", "uno"]);
  await page.locator(".ask").getByRole("button", { name: "Deny" }).click({ delay: 400 });
  await expect(waiting).toHaveCount(0, { timeout: 30_000 });
  await expect(page.locator(".of-user .said")).toHaveText(["compute 3+3", "two", "uno"]);
});

test("a change of a waiting message that begins meanwhile goes to the message field", async ({ page }) => {
  await send(page, "compute 3+4");
  await page.locator(".ask").waitFor();
  await send(page, "list");
  const waiting = page.locator(".queue li");
  await waiting.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edit" }).fill("list, but differently");
  const session = page.url().split("/s/")[1];
  const { run } = await gateway.call<{ run: string }>("GET", `/v1/sessions/${session}`);
  await gateway.call("POST", `/v1/runs/${run}/cancel`, {});
  const field = page.getByRole("textbox", { name: "Message" });
  await expect(field).toHaveValue("list, but differently");
  await expect(field).toBeFocused();
  await expect(page.locator(".toast")).toContainText("could not be changed");
});

test("a change of a waiting message goes to no other chat", async ({ page }) => {
  await send(page, "compute 3+6");
  await page.locator(".ask").waitFor();
  await send(page, "list");
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
  await expect(page.locator(".queue .said")).toHaveText("list");
});

test("a change of a waiting message that is refused goes to the message field, below what is there", async ({ page }) => {
  await send(page, "compute 3+5");
  await page.locator(".ask").waitFor();
  await send(page, "list");
  await page.locator(".queue li").getByRole("button", { name: "Edit" }).click();
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill("a thought");
  await page.route("**/queue", (route) =>
    route.request().method() === "PUT" ? route.fulfill({ status: 409, json: { error: { code: "queue_changed", message: "It changed." } } }) : route.fallback(),
  );
  await page.getByRole("textbox", { name: "Edit" }).fill("list more");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(field).toHaveValue("a thought\n\nlist more");
  await expect(page.locator(".queue .said")).toHaveText("list");
});

test("a message that is away at once is never shown as one that waits", async ({ page }) => {
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { __letters: seen });
    const look = () => {
      for (const letter of document.querySelectorAll<HTMLElement>(".letter")) seen.push(letter.innerText);
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  });
  await send(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  await send(page, "search pond");
  await expect(page.locator(".of-user")).toHaveCount(2);
  expect(await page.evaluate(() => (window as unknown as { __letters: string[] }).__letters)).toEqual([]);
  // One that takes long says that it is on its way.
  await page.route("**/messages", async (route) => {
    await new Promise((late) => setTimeout(late, 1500));
    await route.continue();
  });
  await send(page, "slow");
  await expect(page.locator(".letter")).toContainText("Sending");
  await expect(page.locator(".letter")).toHaveCount(0);
});

test("a message that is refused says why and can be put back into the field", async ({ page }) => {
  await send(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  await page.route("**/messages", (route) => route.fulfill({ status: 409, json: { error: { code: "queue_full", message: "Too many messages wait." } } }));
  await send(page, "one too many");
  await expect(page.locator(".letter")).toContainText("Too many messages wait.");
  await page.locator(".letter").getByRole("button", { name: "Put back" }).click();
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("one too many");
  await expect(page.locator(".letter")).toHaveCount(0);
});

test("whoever is signed out while writing is told how to come in, and nothing is lost", async ({ page }) => {
  await send(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  let tries = 0;
  await page.route("**/messages", (route) => {
    tries += 1;
    return route.fulfill({ status: 401, json: { error: { code: "unauthorized", message: "Who are you?" } } });
  });
  await send(page, "search later");
  await expect(page.locator("body")).toContainText("millpond login");
  expect(tries).toBe(1);
  await page.unroute("**/messages");
  await page.reload();
  await expect(page.locator(".of-user .said")).toHaveText(["list", "search later"]);
});

test("stop stops the run that is seen, not one that began meanwhile", async ({ page }) => {
  await send(page, "compute 4+5");
  await page.locator(".ask").waitFor();
  const session = page.url().split("/s/")[1];
  const { run } = await gateway.call<{ run: string }>("GET", `/v1/sessions/${session}`);
  // As if the run had ended, and the next had begun, since the page was told.
  await page.route(`**/v1/sessions/${session}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ json: { ...(await response.json()), run: "01JZZZZZZZZZZZZZZZZZZZZZZZ" } });
  });
  const [asked] = await Promise.all([page.waitForRequest(/\/cancel$/), page.getByRole("button", { name: "Stop" }).click()]);
  expect(asked.url()).toContain(run);
  await expect(page.locator(".status")).toContainText("Cancelled");
});

test("stop stops, and trying again begins anew", async ({ page }) => {
  await send(page, "compute 4+4");
  await page.locator(".ask").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.locator(".status")).toContainText("Cancelled");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.locator(".ask")).toBeVisible();
  await expect(page.locator(".of-user .said")).toHaveCount(2);
});

test("an edited message begins a branch; the first chat stays as it was", async ({ page }) => {
  await send(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  await send(page, "search pond");
  await expect(page.locator(".of-user .said")).toHaveCount(2);
  const first = page.url();
  await page.locator(".of-user").nth(1).hover();
  await page.locator(".of-user").nth(1).getByRole("button", { name: "Edit as a branch" }).click();
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("search pond");
  await send(page, "search mill");
  await expect(page).not.toHaveURL(first);
  await expect(page.locator(".of-user .said")).toHaveText(["list", "search mill"]);
  await page.goto(first);
  await expect(page.locator(".of-user .said")).toHaveText(["list", "search pond"]);
});

test("a message that joined a run is edited from before itself: what came before stays", async ({ page }) => {
  await send(page, "compute 5+6");
  await page.locator(".ask").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("and be brief");
  await page.keyboard.press("Alt+Enter");
  await expect(page.locator(".queue li")).toHaveCount(1);
  await page.locator(".ask").getByRole("button", { name: "Allow once" }).click({ delay: 400 });
  const said = page.locator(".of-user .said");
  await expect(said).toHaveText(["compute 5+6", "and be brief"], { timeout: 20_000 });
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  const runs = await page.locator(".of-user").evaluateAll((all) => all.map((of) => (of as HTMLElement).dataset["run"]));
  expect(runs[0], "it is in that run").toBe(runs[1]);
  const first = page.url();
  await page.locator(".of-user").nth(1).hover();
  await page.locator(".of-user").nth(1).getByRole("button", { name: "Edit as a branch" }).click();
  await send(page, "list");
  await expect(page).not.toHaveURL(first);
  await expect(said).toHaveText(["compute 5+6", "list"]);
});

test("what is written without a network is kept over a reload and sent once", async ({ page }) => {
  await send(page, "list");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  gateway.cut();
  await send(page, "search later");
  await expect(page.locator(".letter")).toContainText("search later");
  gateway.mend();
  await page.reload();
  await expect(page.locator(".letter")).toHaveCount(0, { timeout: 20_000 });
  await expect(page.locator(".of-user .said")).toHaveText(["list", "search later"]);
});

test("chats are searched, named, pinned, archived, deleted and brought back", async ({ page }) => {
  await send(page, "list the herons");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  const chat = (name: string) => page.locator("mp-sidebar li", { hasText: name });
  const menu = async (name: string, wish: string) => {
    await chat(name).getByRole("button", { name: /Actions/ }).click();
    await chat(name).getByRole("button", { name: wish, exact: true }).click();
  };
  await menu("list the herons", "Rename");
  await page.getByRole("dialog").getByRole("textbox").fill("Herons");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Herons");
  await menu("Herons", "Pin");
  await expect(page.locator("mp-sidebar h2").first()).toHaveText("Pinned");
  await page.getByRole("searchbox").fill("heron");
  await expect(page.locator("mp-sidebar li")).toHaveCount(1);
  await page.getByRole("searchbox").fill("");
  await menu("Herons", "Archive");
  await expect(chat("Herons")).toHaveCount(0);
  await page.getByRole("button", { name: "Show archive" }).click();
  await menu("Herons", "Take out of the archive");
  await page.getByRole("button", { name: "Back to chats" }).click();
  await menu("Herons", "Delete");
  await expect(chat("Herons")).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(chat("Herons")).toHaveCount(1);
});

test("a shared link reads, cannot write, and ends when it is revoked", async ({ page, browser }) => {
  await send(page, "chart");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  await command(page, "share");
  await page.getByRole("button", { name: "New link" }).click();
  const link = await page.getByRole("dialog").getByRole("textbox").inputValue();
  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(link);
  await expect(stranger.locator(".of-user .said")).toHaveText("chart");
  await stranger.getByRole("button", { name: "Open large" }).click();
  await expect(stranger.getByRole("dialog").getByRole("img")).toBeVisible();
  await stranger.keyboard.press("Escape");
  // However often it is drawn, a picture is fetched once and stays as it is.
  const fetched: string[] = [];
  stranger.on("request", (request) => request.url().includes("/blobs/") && fetched.push(request.url()));
  await page.keyboard.press("Escape");
  await send(page, "chart");
  await expect(stranger.locator(".pictures img")).toHaveCount(2, { timeout: 20_000 });
  await expect(stranger.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  expect(fetched.length).toBe(new Set(fetched).size);
  await command(page, "share");
  await expect(stranger.getByRole("textbox", { name: "Message" })).toHaveCount(0);
  await page.getByRole("button", { name: "Revoke" }).click();
  await expect(stranger.locator("body")).toContainText("no longer works", { timeout: 20_000 });
  await stranger.close();
});

test("exports say what the view shows, without secrets", async ({ page }) => {
  await send(page, "search sk-abcdefghijklmnop1234");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  for (const [name, end] of [["markdown", "md"], ["json", "json"], ["html", "html"]] as const) {
    const [file] = await Promise.all([page.waitForEvent("download"), command(page, name)]);
    expect(file.suggestedFilename()).toMatch(new RegExp(`\\.${end}$`));
    const text = readFileSync(await file.path(), "utf8");
    expect(text).toContain("[redacted]");
    expect(text).not.toContain("sk-abcdefghijklmnop1234");
    if (end === "html") expect(text).not.toContain("<script");
    if (end === "json") expect(JSON.parse(text)).toHaveProperty("items");
  }
});

test("texts come in Polish, and colours as chosen", async ({ page }) => {
  await command(page, "polski");
  await expect(page.getByRole("button", { name: "Nowa rozmowa", exact: true })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", "pl");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("dark");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.getByRole("button", { name: "Nowa rozmowa", exact: true })).toBeVisible();
});

test("somebody who is not signed in is told how to come in", async ({ browser }) => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(gateway.origin);
  await expect(page.locator("body")).toContainText("millpond login");
  await page.goto(`${gateway.origin}/login?code=mp_${"0".repeat(64)}`);
  await expect(page.locator("body")).toContainText("used before");
  await page.close();
});

test("the reader's place is kept: up is up, and the end is followed only at the end", async ({ page }) => {
  const session = await gateway.newSession("long");
  const many = Array.from({ length: 60 }, (_, n) => `Paragraph ${n}.`).join("\n\n");
  const ingest = gateway.ingest(session, "openai-chat");
  const delta = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
  await ingest.write(delta(many));
  await page.goto(`${gateway.origin}/s/${session}`);
  const scroller = page.locator(".scroller");
  await expect(scroller).toContainText("Paragraph 59");
  const fromEnd = () => scroller.evaluate((of) => of.scrollHeight - of.clientHeight - of.scrollTop);
  await expect.poll(fromEnd).toBeLessThanOrEqual(8);
  await ingest.write(delta("\n\nMore at the end."));
  await expect(scroller).toContainText("More at the end.");
  await expect.poll(fromEnd).toBeLessThanOrEqual(8);
  await scroller.hover();
  await page.mouse.wheel(0, -600);
  await expect(page.getByRole("button", { name: /To the end|New below/ })).toBeVisible();
  const top = await scroller.evaluate((of) => of.scrollTop);
  for (let n = 0; n < 20; n++) await ingest.write(delta(`\n\nStill more ${n}.`));
  await expect(scroller).toContainText("Still more 19.");
  await ingest.write("data: [DONE]\n\n");
  await ingest.end();
  await expect(page.locator(".status.ended")).toBeAttached();
  expect(await scroller.evaluate((of) => of.scrollTop)).toBe(top);
  await page.getByRole("button", { name: "New below" }).click();
  await expect.poll(fromEnd).toBeLessThanOrEqual(8);
});
