// Several tabs of one browser, which share six connections.

import { expect, test, type Page } from "./test.ts";

const SESSION_STREAM = "/v1/sessions/stream";

test("four visible tabs all work, and share one session list stream", async ({ page, context, gateway }) => {
  let opened = 0;
  context.on("request", (request) => void (opened += Number(new URL(request.url()).pathname === SESSION_STREAM)));
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
  const tabs: Page[] = [];
  for (let n = 0; n < 4; n++) {
    const tab = n === 0 ? page : await context.newPage();
    await tab.goto(`${gateway.origin}/s/${await gateway.newSession(`tab ${n}`)}`);
    tabs.push(tab);
  }
  opened = 0;
  for (const tab of tabs) {
    await tab.getByRole("textbox", { name: "Message" }).fill("list");
    await tab.keyboard.press("Enter");
    await expect(tab.locator(".status.ended"), "the reply arrives").toBeAttached();
  }
  const expectListed = async (title: string, by: readonly Page[]) => {
    const session = await gateway.newSession(title);
    for (const tab of by) await expect(tab.locator("mp-sidebar li", { hasText: title })).toHaveCount(1);
    return session;
  };
  await expectListed("for all", tabs);
  expect(opened, "no tab opened another stream").toBe(0);
  // When the leader is closed, another tab takes over.
  const [first, ...others] = tabs;
  await first?.close();
  await expectListed("for those that stay", others);
  expect(opened).toBe(1);
});

test("a chat deleted in another tab shows that, and can be restored", async ({ page, context, gateway }) => {
  await page.goto(gateway.origin + (await gateway.loginPath()));
  const session = await gateway.newSession("to be deleted");
  await page.goto(`${gateway.origin}/s/${session}`);
  const field = page.getByRole("textbox", { name: "Message" });
  await expect(field).toBeVisible();
  const other = await context.newPage();
  await other.goto(gateway.origin);
  const chat = other.locator("mp-sidebar li", { hasText: "to be deleted" });
  await chat.getByRole("button", { name: /Actions/ }).click();
  await chat.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("deleted");
  await expect(field).toHaveCount(0);
  await page.getByRole("button", { name: "Restore" }).click();
  await expect(field).toBeVisible();
  await field.fill("list");
  await page.keyboard.press("Enter");
  await expect(page.locator(".status.ended")).toBeAttached();
});

test("an unsent message is sent although its tab was closed", async ({ page, context, gateway }) => {
  const session = await gateway.newSession("left behind");
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await expect(page.locator("mp-sidebar li", { hasText: "left behind" })).toHaveCount(1);
  const other = await context.newPage();
  await other.route("**/messages", (route) => route.abort());
  await other.goto(`${gateway.origin}/s/${session}`);
  await other.getByRole("textbox", { name: "Message" }).fill("list");
  await other.keyboard.press("Enter");
  await expect(other.locator(".unsent")).toContainText("list");
  await other.close();
  const { token } = gateway;
  const log = async () => (await fetch(`http://127.0.0.1:${gateway.port}/v1/sessions/${session}/log`, { headers: { authorization: `Bearer ${token}` } })).text();
  await expect.poll(async () => (await log()).split('"prompt_received"').length - 1).toBe(1);
});
