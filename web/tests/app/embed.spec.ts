// The embedded chat, <millpond-chat>: in another site's page, with a token and without cookies.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, type Page } from "@playwright/test";
import { expectNoAxeViolations } from "./axe.ts";
import { TestGateway } from "./gateway.ts";
import { countObjectUrls, liveObjectUrls } from "./object-urls.ts";
import { advanceClock } from "./page-actions.ts";
import { squarePng } from "./png.ts";
import { numberedRun, singleReply } from "./numbered-run.ts";
import { isComplete, frameError } from "./frame-checks.ts";

let gateway: TestGateway;
let embeddingSite: Server;
/** Serves remote images and records the requests. */
let imageHost: Server;
let imageRequests: { path: string; referer: string | undefined; cookie: string | undefined }[] = [];

const originOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const listen = (server: Server) => new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));

test.beforeAll(async () => {
  embeddingSite = createServer(({ url }, answer) =>
    url === "/" ? answer.end("<!doctype html><title>Shop</title><h1>Shop</h1><div id=place style='height:600px;display:flex'></div>") : answer.writeHead(404).end(),
  );
  imageHost = createServer(({ url = "", headers: { referer, cookie } }, answer) => {
    imageRequests.push({ path: url, referer, cookie });
    answer.writeHead(200, { "content-type": "image/png" }).end(squarePng(20));
  });
  await Promise.all([listen(embeddingSite), listen(imageHost)]);
  gateway = await TestGateway.start(["--origin", originOf(embeddingSite)]);
});

test.afterAll(async () => {
  embeddingSite.close();
  imageHost.close();
  await gateway.stop();
});

test.beforeEach(async ({ page }) => {
  imageRequests = [];
  await countObjectUrls(page.context());
  await page.goto(originOf(embeddingSite));
});

/** Adds the element to the page, or replaces it. */
async function embedChat(page: Page, attributes: { session: string; token: string; view?: string; "read-only"?: string }): Promise<void> {
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

const setAttribute = (page: Page, name: string, value: string) => page.locator("millpond-chat").evaluate((element, [name, value]) => element.setAttribute(name, value), [name, value] as const);

async function createShare(session: string): Promise<{ id: string; token: string }> {
  return gateway.callApi("POST", `/v1/sessions/${session}/shares`, {});
}

async function ingestReply(session: string, text: string): Promise<void> {
  const ingest = gateway.ingest(session);
  await ingest.write(text);
  expect(await ingest.end()).toBe(200);
}

const chatPage = (page: Page) => page.locator("millpond-chat .page");
const messageField = (page: Page) => page.locator("millpond-chat mp-composer textarea");

test("the element shows a session in a shadow root, with a token and without cookies", async ({ page }) => {
  const session = await gateway.newSession("embedded");
  const { token } = await createShare(session);
  await embedChat(page, { session, token, view: "bubbles", "read-only": "" });
  await ingestReply(session, numberedRun().join(""));
  await expect.poll(async () => isComplete("bubbles", await chatPage(page).innerText())).toBe(true);
  expect(frameError("bubbles", await chatPage(page).innerText())).toBeUndefined();
  expect(await page.locator("millpond-chat").evaluate((element) => element.shadowRoot?.adoptedStyleSheets.length)).toBe(1);
  expect(await page.locator("h1").evaluate((element) => getComputedStyle(element).fontSize), "the page keeps its own style").toBe("32px");
});

test("a guest gets a read-only chat, an owner can write", async ({ page }) => {
  const session = await gateway.newSession("guests");
  const { token } = await createShare(session);
  await embedChat(page, { session, token });
  await expect(page.locator("millpond-chat .read-only")).toBeVisible();
  await expect(page.locator("millpond-chat mp-composer")).toHaveCount(0);
  await embedChat(page, { session, token: gateway.token });
  await expect(messageField(page)).toBeVisible();
});

test("after two changes of session the later one is shown, and a change of view keeps the draft", async ({ page }) => {
  const [slow, quick] = [await gateway.newSession("slow"), await gateway.newSession("quick")];
  let release = (): void => {};
  const held = new Promise<void>((done) => (release = done));
  await page.route(`**/${slow}/queue`, async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest(`**/${slow}/queue`);
  await embedChat(page, { session: slow, token: gateway.token });
  await asked;
  await setAttribute(page, "session", quick);
  await messageField(page).fill("a thought");
  const answered = page.waitForResponse(`**/${slow}/queue`);
  release();
  await answered;
  await setAttribute(page, "view", "steps");
  await expect(page.locator("millpond-chat .page.view-steps")).toBeAttached();
  await expect(messageField(page)).toHaveValue("a thought");
  expect(await page.locator("millpond-chat mp-chat").evaluate((element) => (element as HTMLElement & { session: string }).session)).toBe(quick);
});

test("a remote image is requested only when clicked, and only by a frame", async ({ page }) => {
  const session = await gateway.newSession("remote");
  const { token } = await createShare(session);
  const others: string[] = [];
  page.on("request", (request) => {
    if (![gateway.origin, originOf(embeddingSite)].includes(new URL(request.url()).origin)) others.push(request.url());
  });
  await embedChat(page, { session, token });
  const cat = `${originOf(imageHost)}/cat.png`;
  await ingestReply(session, singleReply(`One ![a cat](${cat}), one [![linked](${cat}?b)](${originOf(imageHost)}/), <img src="${cat}?c"> and ![again][d].\n\n[d]: ${cat}?d\n`));
  await expect(chatPage(page)).toContainText("and");
  const buttons = chatPage(page).locator("button.md-show-image");
  await expect(buttons).toHaveCount(3);
  await setAttribute(page, "view", "transcript");
  await expect(page.locator("millpond-chat .page.view-transcript button.md-show-image")).toHaveCount(3);
  expect([...others, ...imageRequests]).toEqual([]);

  await buttons.first().click();
  const frame = chatPage(page).locator("iframe.remote-image");
  await expect(frame).toHaveAttribute("sandbox", "");
  await expect.poll(() => imageRequests).toEqual([{ path: "/cat.png", referer: undefined, cookie: undefined }]);
  await expect.poll(() => others).toEqual([cat]);
  expect(page.url(), "clicking an image in a link does not follow the link").toBe(`${originOf(embeddingSite)}/`);
});

/** Requests made in a minute of the page's clock, in which every timer of a reconnect ends. */
async function requestsDuringReconnectTime(page: Page): Promise<string[]> {
  const requests: string[] = [];
  const note = (request: { url(): string }) => void requests.push(request.url());
  page.on("request", note);
  await advanceClock(page, 60_000);
  // Requests are told of in order: after this one, all that the timers made are known.
  const last = `${originOf(embeddingSite)}/last`;
  await page.evaluate((url) => fetch(url).then(() => undefined), last);
  page.off("request", note);
  expect(requests.pop()).toBe(last);
  return requests;
}

/** Waits until the gateway refuses to open the session's stream. */
const refusedStream = (page: Page, session: string) => page.waitForResponse((response) => response.url().includes(`/${session}/stream`) && 400 <= response.status());

test("a revoked link is reported, the page stays, and no more requests are made", async ({ page }) => {
  const session = await gateway.newSession("revoked");
  const { id, token } = await createShare(session);
  await page.clock.install();
  await embedChat(page, { session, token });
  await ingestReply(session, singleReply("Still here."));
  await expect(chatPage(page)).toContainText("Still here.");
  const refused = refusedStream(page, session);
  await gateway.callApi("DELETE", `/v1/sessions/${session}/shares/${id}`, {});
  const note = page.locator("millpond-chat [role=alert]");
  await refused;
  await expect(note).toHaveText("This link no longer works.");
  expect(await requestsDuringReconnectTime(page)).toEqual([]);
  await expect(note).toHaveText("This link no longer works.");
  await expect(chatPage(page)).toContainText("Still here.");
  await expect(page.locator("millpond-chat .read-only"), "it is not read-only but closed").toHaveCount(0);
  // The same after reopening the page.
  await embedChat(page, { session, token });
  await expect(note).toHaveText("This link no longer works.");
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  expect(await requestsDuringReconnectTime(page)).toEqual([]);
  await expect(page.locator("millpond-chat .read-only"), "it is not read-only but closed").toHaveCount(0);
});

test("a guest sees that the session was deleted, and no more requests are made", async ({ page }) => {
  const session = await gateway.newSession("deleted");
  const { token } = await createShare(session);
  await page.clock.install();
  await embedChat(page, { session, token });
  await ingestReply(session, singleReply("Still here."));
  await expect(chatPage(page)).toContainText("Still here.");
  const refused = refusedStream(page, session);
  await gateway.callApi("DELETE", `/v1/sessions/${session}`, {});
  const note = page.locator("millpond-chat [role=alert]");
  await refused;
  await expect(note).toHaveText("This chat was deleted.");
  expect(await requestsDuringReconnectTime(page)).toEqual([]);
  await expect(note).toHaveText("This chat was deleted.");
  await expect(chatPage(page)).toContainText("Still here.");
});

test("an owner sees that the session was restored in another window", async ({ page }) => {
  const session = await gateway.newSession("restored elsewhere");
  await embedChat(page, { session, token: gateway.token });
  await gateway.callApi("DELETE", `/v1/sessions/${session}`, {});
  await expect(page.locator("millpond-chat [role=alert]")).toContainText("This chat was deleted.");
  await gateway.callApi("POST", `/v1/sessions/${session}/restore`, {});
  await expect(messageField(page)).toBeVisible();
  await expect(page.locator("millpond-chat [role=alert]")).toHaveCount(0);
});

test("an owner cannot write to a deleted session, and can restore it", async ({ page }) => {
  const session = await gateway.newSession("restored");
  await embedChat(page, { session, token: gateway.token });
  await messageField(page).fill("list");
  await gateway.callApi("DELETE", `/v1/sessions/${session}`, {});
  await expect(page.locator("millpond-chat [role=alert]")).toContainText("This chat was deleted.");
  await expect(messageField(page)).toHaveCount(0);
  await embedChat(page, { session, token: gateway.token });
  await expect(page.locator("millpond-chat [role=alert]"), "also after reopening").toContainText("This chat was deleted.");
  await page.getByRole("button", { name: "Restore" }).click();
  await expect(messageField(page)).toBeVisible();
  await messageField(page).fill("list");
  await messageField(page).press("Enter");
  await expect(page.locator("millpond-chat .status.ended")).toBeAttached();
});

async function uploadImage(session: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/sessions/${session}/blobs`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.token}`, "content-type": "image/png" },
    body: new Uint8Array(squarePng(40)),
  });
  return ((await response.json()) as { digest: string }).digest;
}

const imageWidths = (page: Page) => chatPage(page).locator("img").evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth));

test("images are loaded with the token, and their object URLs are revoked with the view, the session and the element", async ({ page }) => {
  const [session, other] = [await gateway.newSession("images"), await gateway.newSession("none")];
  const digest = await uploadImage(session);
  await gateway.callApi("POST", `/v1/sessions/${session}/messages`, { text: "help", attachments: [digest] });
  await embedChat(page, { session, token: gateway.token });
  await expect.poll(() => imageWidths(page)).toEqual([40]);
  expect(await liveObjectUrls(page)).toHaveLength(1);
  await setAttribute(page, "view", "transcript");
  await expect(page.locator("millpond-chat .page.view-transcript img")).toHaveCount(1);
  expect(await liveObjectUrls(page), "the previous one was revoked").toHaveLength(1);
  await setAttribute(page, "session", other);
  await expect(chatPage(page).locator("img")).toHaveCount(0);
  await expect.poll(() => liveObjectUrls(page)).toEqual([]);
  await setAttribute(page, "session", session);
  await expect.poll(() => imageWidths(page)).toEqual([40]);
  await page.locator("millpond-chat").evaluate((element) => element.remove());
  await expect.poll(() => liveObjectUrls(page)).toEqual([]);
});

test("a session image named in a text is loaded with the token, and not from the embedding site", async ({ page }) => {
  const session = await gateway.newSession("named");
  const digest = await uploadImage(session);
  const { token } = await createShare(session);
  const siteRequests: string[] = [];
  page.on("request", (request) => request.url().startsWith(originOf(embeddingSite)) && siteRequests.push(request.url()));
  await embedChat(page, { session, token });
  await ingestReply(session, singleReply(`Here: ![pond](/v1/sessions/${session}/blobs/${digest})`));
  await expect.poll(() => imageWidths(page)).toEqual([40]);
  expect(siteRequests).toEqual([]);
});

test("a diagram has one object URL at a time, and none when it is not shown", async ({ page }) => {
  const [session, other] = [await gateway.newSession("drawn"), await gateway.newSession("other")];
  await ingestReply(session, singleReply("```mermaid\ngraph LR\n  A-->B\n```\n"));
  await embedChat(page, { session, token: gateway.token });
  const image = chatPage(page).locator(".md-diagram img");
  const source = () => image.getAttribute("src");
  const theme = (name: string) => page.evaluate((name) => void (document.documentElement.dataset["theme"] = name), name);
  await expect(image).toBeVisible();
  for (const name of ["dark", "light"]) {
    const before = await source();
    await theme(name);
    await expect.poll(source).not.toBe(before);
    expect(await liveObjectUrls(page)).toEqual([await source()]);
  }
  // Leaving during a redraw leaks nothing.
  await theme("dark");
  await setAttribute(page, "session", other);
  await expect(image).toHaveCount(0);
  // Diagrams are drawn one after the other: when this one is drawn, the redraw is over.
  await ingestReply(other, singleReply("```mermaid\ngraph LR\n  C-->D\n```\n"));
  await expect(image).toBeVisible();
  expect(await liveObjectUrls(page)).toEqual([await source()]);
});

/** Checks only the element: the page around it is not ours. */
const expectNoViolationsInChat = (page: Page, state: string) => expectNoAxeViolations(page, state, [], "millpond-chat");

test("axe finds no violations in the element in any state", async ({ page }) => {
  const session = await gateway.newSession("for everyone");
  const { id, token } = await createShare(session);
  await embedChat(page, { session, token: gateway.token });
  await ingestReply(session, singleReply("Still here."));
  await expect(chatPage(page)).toContainText("Still here.");
  await expectNoViolationsInChat(page, "an owner's");
  await embedChat(page, { session, token });
  await expect(page.locator("millpond-chat .read-only")).toBeVisible();
  await expectNoViolationsInChat(page, "a guest's");
  await gateway.callApi("DELETE", `/v1/sessions/${session}/shares/${id}`, {});
  await expect(page.locator("millpond-chat [role=alert]")).toHaveText("This link no longer works.");
  await expectNoViolationsInChat(page, "a guest's whose link was revoked");
  await gateway.callApi("DELETE", `/v1/sessions/${session}`, {});
  await embedChat(page, { session, token: gateway.token });
  await expect(page.getByRole("button", { name: "Restore" })).toBeVisible();
  await expectNoViolationsInChat(page, "an owner's whose session was deleted");
});
