// The chat in somebody else's page: <millpond-chat>, with a token and without cookies.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, type Page } from "@playwright/test";
import { expectNoBarriers } from "./axe.ts";
import { TestGateway } from "./gateway.ts";
import { countObjectUrls, objectUrls } from "./object-urls.ts";
import { png } from "./png.ts";
import { pieces, reply } from "./stream.ts";
import { isWhole, wrong } from "./watch.ts";

let gateway: TestGateway;
let shop: Server;
/** Where pictures from elsewhere are; it notes who asks for one. */
let elsewhere: Server;
let asked: { path: string; referer: string | undefined; cookie: string | undefined }[] = [];

const at = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const listen = (server: Server) => new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));

test.beforeAll(async () => {
  shop = createServer(({ url }, answer) =>
    url === "/" ? answer.end("<!doctype html><title>Shop</title><h1>Shop</h1><div id=place style='height:600px;display:flex'></div>") : answer.writeHead(404).end(),
  );
  elsewhere = createServer(({ url = "", headers: { referer, cookie } }, answer) => {
    asked.push({ path: url, referer, cookie });
    answer.writeHead(200, { "content-type": "image/png" }).end(png(20));
  });
  await Promise.all([listen(shop), listen(elsewhere)]);
  gateway = await TestGateway.start(["--origin", at(shop)]);
});

test.afterAll(async () => {
  shop.close();
  elsewhere.close();
  await gateway.stop();
});

test.beforeEach(async ({ page }) => {
  asked = [];
  await countObjectUrls(page.context());
  await page.goto(at(shop));
});

/** Puts the element into the page, in the place of one before. */
async function show(page: Page, attributes: { session: string; token: string; view?: string; "read-only"?: string }): Promise<void> {
  await page.evaluate(
    ([src, attributes]) => {
      const chat = document.createElement("millpond-chat");
      for (const [name, value] of Object.entries(attributes)) chat.setAttribute(name, value);
      document.querySelector("#place")?.replaceChildren(chat);
      document.head.append(Object.assign(document.createElement("script"), { type: "module", src }));
    },
    [`${gateway.origin}/embed.js`, attributes] as const,
  );
}

const set = (page: Page, name: string, value: string) => page.locator("millpond-chat").evaluate((of, [name, value]) => of.setAttribute(name, value), [name, value] as const);

async function shareOf(session: string): Promise<{ id: string; token: string }> {
  return gateway.call("POST", `/v1/sessions/${session}/shares`, {});
}

async function say(session: string, text: string): Promise<void> {
  const ingest = gateway.ingest(session);
  await ingest.write(text);
  expect(await ingest.end()).toBe(200);
}

const shown = (page: Page) => page.locator("millpond-chat .page");
const field = (page: Page) => page.locator("millpond-chat mp-composer textarea");

test("the element shows a session in a shadow root, with a token and without cookies", async ({ page }) => {
  const session = await gateway.newSession("embedded");
  const { token } = await shareOf(session);
  await show(page, { session, token, view: "bubbles", "read-only": "" });
  await say(session, pieces().join(""));
  await expect.poll(async () => isWhole("bubbles", await shown(page).innerText()), { timeout: 20_000 }).toBe(true);
  expect(wrong("bubbles", await shown(page).innerText())).toBeUndefined();
  expect(await page.locator("millpond-chat").evaluate((of) => of.shadowRoot?.adoptedStyleSheets.length)).toBe(1);
  expect(await page.locator("h1").evaluate((of) => getComputedStyle(of).fontSize), "the page keeps its own style").toBe("32px");
});

test("a guest is offered nothing that would be refused, an owner is", async ({ page }) => {
  const session = await gateway.newSession("guests");
  const { token } = await shareOf(session);
  await show(page, { session, token });
  await expect(page.locator("millpond-chat .read-only")).toBeVisible();
  await expect(page.locator("millpond-chat mp-composer")).toHaveCount(0);
  await show(page, { session, token: gateway.token });
  await expect(field(page)).toBeVisible();
});

test("of two sessions that are named one after the other the later is shown, and a look at it keeps what is written", async ({ page }) => {
  const [slow, quick] = [await gateway.newSession("slow"), await gateway.newSession("quick")];
  let release = (): void => {};
  const held = new Promise<void>((done) => (release = done));
  await page.route(`**/${slow}/queue`, async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest(`**/${slow}/queue`);
  await show(page, { session: slow, token: gateway.token });
  await asked;
  await set(page, "session", quick);
  await field(page).fill("a thought");
  const answered = page.waitForResponse(`**/${slow}/queue`);
  release();
  await answered;
  await set(page, "view", "steps");
  await expect(page.locator("millpond-chat .page.view-steps")).toBeAttached();
  await expect(field(page)).toHaveValue("a thought");
  expect(await page.locator("millpond-chat mp-chat").evaluate((of) => (of as HTMLElement & { session: string }).session)).toBe(quick);
});

test("a picture from elsewhere is asked for by nobody until it is clicked, and then by a frame alone", async ({ page }) => {
  const session = await gateway.newSession("remote");
  const { token } = await shareOf(session);
  const others: string[] = [];
  page.on("request", (request) => {
    if (![gateway.origin, at(shop)].includes(new URL(request.url()).origin)) others.push(request.url());
  });
  await show(page, { session, token });
  const cat = `${at(elsewhere)}/cat.png`;
  await say(session, reply(`One ![a cat](${cat}), one [![linked](${cat}?b)](${at(elsewhere)}/), <img src="${cat}?c"> and ![again][d].\n\n[d]: ${cat}?d\n`));
  await expect(shown(page)).toContainText("and");
  const buttons = shown(page).locator("button.md-image");
  await expect(buttons).toHaveCount(3);
  await set(page, "view", "transcript");
  await expect(page.locator("millpond-chat .page.view-transcript button.md-image")).toHaveCount(3);
  expect([...others, ...asked]).toEqual([]);

  await buttons.first().click();
  const frame = shown(page).locator("iframe.remote-picture");
  await expect(frame).toHaveAttribute("sandbox", "");
  await expect.poll(() => asked).toEqual([{ path: "/cat.png", referer: undefined, cookie: undefined }]);
  await expect.poll(() => others).toEqual([cat]);
  expect(page.url(), "a picture in a link does not lead anywhere").toBe(`${at(shop)}/`);
});

/** Waits for as long as a line that was lost would need to come back, and counts what is asked for. */
async function requestsAfter(page: Page): Promise<string[]> {
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.waitForTimeout(3_000);
  return requests;
}

test("a link that is revoked is said to be, what was read stays, and nothing is asked for again", async ({ page }) => {
  const session = await gateway.newSession("revoked");
  const { id, token } = await shareOf(session);
  await show(page, { session, token });
  await say(session, reply("Still here."));
  await expect(shown(page)).toContainText("Still here.");
  await gateway.call("DELETE", `/v1/sessions/${session}/shares/${id}`, {});
  const note = page.locator("millpond-chat [role=alert]");
  await expect(note).toHaveText("This link no longer works.");
  // Once the gateway has been asked again, and refused.
  await page.waitForTimeout(1_000);
  expect(await requestsAfter(page)).toEqual([]);
  await expect(note).toHaveText("This link no longer works.");
  await expect(shown(page)).toContainText("Still here.");
  await expect(page.locator("millpond-chat .read-only"), "nobody reads along any more").toHaveCount(0);
  // Whoever opens the page now is told the same.
  await show(page, { session, token });
  await expect(note).toHaveText("This link no longer works.");
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  expect(await requestsAfter(page)).toEqual([]);
  await expect(page.locator("millpond-chat .read-only"), "nothing more to read along").toHaveCount(0);
});

test("a guest of a session that is deleted is told so, and nothing is asked for again", async ({ page }) => {
  const session = await gateway.newSession("deleted");
  const { token } = await shareOf(session);
  await show(page, { session, token });
  await say(session, reply("Still here."));
  await expect(shown(page)).toContainText("Still here.");
  await gateway.call("DELETE", `/v1/sessions/${session}`, {});
  const note = page.locator("millpond-chat [role=alert]");
  await expect(note).toHaveText("This chat was deleted.");
  await page.waitForTimeout(1_000);
  expect(await requestsAfter(page)).toEqual([]);
  await expect(note).toHaveText("This chat was deleted.");
  await expect(shown(page)).toContainText("Still here.");
});

test("an owner hears that a session was brought back elsewhere", async ({ page }) => {
  const session = await gateway.newSession("brought back elsewhere");
  await show(page, { session, token: gateway.token });
  await gateway.call("DELETE", `/v1/sessions/${session}`, {});
  await expect(page.locator("millpond-chat [role=alert]")).toContainText("This chat was deleted.");
  await gateway.call("POST", `/v1/sessions/${session}/restore`, {});
  await expect(field(page)).toBeVisible({ timeout: 15_000 });
  await expect(page.locator("millpond-chat [role=alert]")).toHaveCount(0);
});

test("an owner of a session that is deleted cannot write into it, and can bring it back", async ({ page }) => {
  const session = await gateway.newSession("brought back");
  await show(page, { session, token: gateway.token });
  await field(page).fill("list");
  await gateway.call("DELETE", `/v1/sessions/${session}`, {});
  await expect(page.locator("millpond-chat [role=alert]")).toContainText("This chat was deleted.");
  await expect(field(page)).toHaveCount(0);
  await show(page, { session, token: gateway.token });
  await expect(page.locator("millpond-chat [role=alert]"), "also whoever opens it then").toContainText("This chat was deleted.");
  await page.getByRole("button", { name: "Bring it back" }).click();
  await expect(field(page)).toBeVisible();
  await field(page).fill("list");
  await field(page).press("Enter");
  await expect(page.locator("millpond-chat .status.ended")).toBeAttached({ timeout: 20_000 });
});

async function upload(session: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/sessions/${session}/blobs`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.token}`, "content-type": "image/png" },
    body: new Uint8Array(png(40)),
  });
  return ((await response.json()) as { digest: string }).digest;
}

const widths = (page: Page) => shown(page).locator("img").evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth));

test("pictures of a session come with the token, and are given back with the view, the session and the element", async ({ page }) => {
  const [session, other] = [await gateway.newSession("pictures"), await gateway.newSession("none")];
  const digest = await upload(session);
  await gateway.call("POST", `/v1/sessions/${session}/messages`, { text: "help", attachments: [digest] });
  await show(page, { session, token: gateway.token });
  await expect.poll(() => widths(page)).toEqual([40]);
  expect(await objectUrls(page)).toHaveLength(1);
  await set(page, "view", "transcript");
  await expect(page.locator("millpond-chat .page.view-transcript img")).toHaveCount(1);
  expect(await objectUrls(page), "the one before was given back").toHaveLength(1);
  await set(page, "session", other);
  await expect(shown(page).locator("img")).toHaveCount(0);
  await expect.poll(() => objectUrls(page)).toEqual([]);
  await set(page, "session", session);
  await expect.poll(() => widths(page)).toEqual([40]);
  await page.locator("millpond-chat").evaluate((of) => of.remove());
  await expect.poll(() => objectUrls(page)).toEqual([]);
});

test("a picture of the session that a text names comes with the token, and the page around is not asked for it", async ({ page }) => {
  const session = await gateway.newSession("named");
  const digest = await upload(session);
  const { token } = await shareOf(session);
  const ofShop: string[] = [];
  page.on("request", (request) => request.url().startsWith(at(shop)) && ofShop.push(request.url()));
  await show(page, { session, token });
  await say(session, reply(`Here: ![pond](/v1/sessions/${session}/blobs/${digest})`));
  await expect.poll(() => widths(page)).toEqual([40]);
  expect(ofShop).toEqual([]);
});

test("a diagram is one picture at a time, in whatever colours, and none when it is not shown", async ({ page }) => {
  const [session, other] = [await gateway.newSession("drawn"), await gateway.newSession("other")];
  await say(session, reply("```mermaid\ngraph LR\n  A-->B\n```\n"));
  await show(page, { session, token: gateway.token });
  const image = shown(page).locator(".md-diagram img");
  const source = () => image.getAttribute("src");
  const theme = (name: string) => page.evaluate((name) => void (document.documentElement.dataset["theme"] = name), name);
  await expect(image).toBeVisible({ timeout: 30_000 });
  for (const name of ["dark", "light"]) {
    const before = await source();
    await theme(name);
    await expect.poll(source).not.toBe(before);
    expect(await objectUrls(page)).toEqual([await source()]);
  }
  // Whoever leaves while it is drawn anew leaves nothing behind.
  await theme("dark");
  await set(page, "session", other);
  await expect(image).toHaveCount(0);
  await page.waitForTimeout(2_000);
  expect(await objectUrls(page)).toEqual([]);
});

/** The page around is not ours. */
const noBarriersIn = (page: Page, state: string) => expectNoBarriers(page, state, [], "millpond-chat");

test("axe finds nothing in the element, whatever becomes of its session", async ({ page }) => {
  const session = await gateway.newSession("for everyone");
  const { id, token } = await shareOf(session);
  await show(page, { session, token: gateway.token });
  await say(session, reply("Still here."));
  await expect(shown(page)).toContainText("Still here.");
  await noBarriersIn(page, "an owner's");
  await show(page, { session, token });
  await expect(page.locator("millpond-chat .read-only")).toBeVisible();
  await noBarriersIn(page, "a guest's");
  await gateway.call("DELETE", `/v1/sessions/${session}/shares/${id}`, {});
  await expect(page.locator("millpond-chat [role=alert]")).toHaveText("This link no longer works.");
  await noBarriersIn(page, "a guest's whose link was revoked");
  await gateway.call("DELETE", `/v1/sessions/${session}`, {});
  await show(page, { session, token: gateway.token });
  await expect(page.getByRole("button", { name: "Bring it back" })).toBeVisible();
  await noBarriersIn(page, "an owner's whose session was deleted");
});
