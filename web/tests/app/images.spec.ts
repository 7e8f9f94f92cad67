// Images attached by the user: chosen, pasted or dropped, before and after sending.

import { expect, test, type Page } from "./test.ts";
import type { TestGateway } from "./gateway.ts";
import { countObjectUrls, liveObjectUrls } from "./object-urls.ts";
import { squarePng } from "./png.ts";

let gateway: TestGateway;
test.beforeAll(({ gateway: started }) => void (gateway = started));

test.beforeEach(async ({ page }) => {
  await countObjectUrls(page.context());
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
});

const attachFiles = (page: Page, ...files: { name: string; mimeType: string; buffer: Buffer }[]) =>
  page.locator("mp-composer input[type=file]").setInputFiles(files);
const pondImage = { name: "pond.png", mimeType: "image/png", buffer: squarePng(40) };

/** Natural widths of the images in user messages. */
const imageWidths = (page: Page) => page.locator(".kind-user img").evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth));

test("an image is sent with the first message, and without any text", async ({ page }) => {
  await attachFiles(page, pondImage);
  await expect(page.getByRole("img", { name: "pond.png" })).toBeVisible();
  await page.getByRole("textbox", { name: "Message" }).fill("look");
  await page.keyboard.press("Enter");
  await expect(page.locator(".kind-user .message-text")).toHaveText("look");
  await expect.poll(() => imageWidths(page)).toEqual([40]);
  await expect(page.locator(".thumbnails")).toBeHidden();

  await attachFiles(page, pondImage, { ...pondImage, name: "large.png", buffer: squarePng(3000) });
  await page.getByRole("button", { name: "Remove pond.png" }).click();
  await page.keyboard.press("Enter");
  await expect.poll(() => imageWidths(page)).toEqual([40, 2048]);
  await page.reload();
  await expect.poll(() => imageWidths(page)).toEqual([40, 2048]);
  await page.locator(".kind-user").first().getByRole("button", { name: "Enlarge image" }).click();
  await expect(page.getByRole("dialog").getByRole("img")).toBeVisible();
});

test("an image is queued with its message, and kept when the message is edited", async ({ page }) => {
  await page.getByRole("textbox", { name: "Message" }).fill("compute 4+4");
  await page.keyboard.press("Enter");
  await page.locator(".ask").waitFor();
  await attachFiles(page, pondImage);
  await page.getByRole("textbox", { name: "Message" }).fill("list");
  await page.keyboard.press("Enter");
  const waiting = page.locator(".queue li");
  await expect(waiting).toContainText("1 image");
  await waiting.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edit" }).fill("think");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(waiting).toContainText("1 image");
  await page.locator(".ask").getByRole("button", { name: "Deny" }).click({ delay: 400 });
  await expect(page.locator(".kind-user .message-text")).toHaveText(["compute 4+4", "think"]);
  await expect.poll(() => imageWidths(page)).toEqual([40]);
  await expect(page.locator(".status.ended")).toBeVisible();

  const before = page.url();
  await page.locator(".kind-user").nth(1).getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("help");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href !== before);
  await expect(page.locator(".kind-user .message-text")).toHaveText(["compute 4+4", "help"]);
  await expect.poll(() => imageWidths(page)).toEqual([40]);
});

/** Drops or pastes a file on the field. Returns true if the field handled it. */
const dropOrPaste = (page: Page, how: "drop" | "paste", file: typeof pondImage, text = "") =>
  page.locator("mp-composer textarea").evaluate(
    (area, [how, name, type, bytes, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(bytes)], name, { type }));
      if (text) data.items.add(text, "text/plain");
      const init = { bubbles: true, cancelable: true };
      return !area.dispatchEvent(how === "drop" ? new DragEvent("drop", { ...init, dataTransfer: data }) : new ClipboardEvent("paste", { ...init, clipboardData: data }));
    },
    [how, file.name, file.mimeType, [...file.buffer], text] as const,
  );

test("files can be dropped and pasted; too many and unsupported ones are reported", async ({ page }) => {
  await dropOrPaste(page, "drop", { ...pondImage, name: "a.png" });
  await dropOrPaste(page, "paste", { ...pondImage, name: "b.png" });
  await expect(page.locator(".thumbnails li")).toHaveCount(2);
  await dropOrPaste(page, "drop", { name: "c.bin", mimeType: "application/octet-stream", buffer: Buffer.of(0xff, 0xd8, 0xff) });
  await expect(page.locator(".toast")).toContainText("Cannot attach c.bin");
  for (let more = 0; more < 7; more++) await dropOrPaste(page, "paste", { ...pondImage, name: `${more}.png` });
  await expect(page.locator(".thumbnails li")).toHaveCount(8);
  await expect(page.locator(".toast").last()).toContainText("at most 8 images");
});

test("a message whose upload fails stays in the field", async ({ page }) => {
  await page.getByRole("textbox", { name: "Message" }).fill("compute 5+5");
  await page.keyboard.press("Enter");
  await page.locator(".ask").waitFor();
  await page.route("**/blobs", (route) => route.abort());
  await attachFiles(page, pondImage);
  await page.getByRole("textbox", { name: "Message" }).fill("look");
  await page.keyboard.press("Enter");
  await expect(page.locator(".toast")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("look");
  await expect(page.getByRole("img", { name: "pond.png" })).toBeVisible();
  await page.unroute("**/blobs");
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await expect(page.locator(".queue li")).toContainText("1 image");
});

test("a rejected message moves back to the field with its image", async ({ page }) => {
  await page.getByRole("textbox", { name: "Message" }).fill("list");
  await page.keyboard.press("Enter");
  await expect(page.locator(".status.ended")).toBeAttached();
  await page.route("**/messages", (route) => route.fulfill({ status: 409, json: { error: { code: "queue_full", message: "The queue is full." } } }));
  await attachFiles(page, pondImage);
  await page.getByRole("textbox", { name: "Message" }).fill("look");
  await page.keyboard.press("Enter");
  await page.locator(".unsent").getByRole("button", { name: "Move back" }).click();
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("look");
  await expect(page.locator(".thumbnails img")).toHaveCount(1);
  await page.unroute("**/messages");
  await page.keyboard.press("Enter");
  await expect.poll(() => imageWidths(page)).toEqual([40]);
});

test("an unreadable image is reported by name, and the others stay", async ({ page }) => {
  const broken = { name: "torn.jpg", mimeType: "image/jpeg", buffer: Buffer.of(0xff, 0xd8, 0xff) };
  await attachFiles(page, pondImage, broken, { ...pondImage, name: "mill.png" });
  await expect(page.locator(".toast")).toContainText("torn.jpg is not a readable image");
  await expect(page.locator(".thumbnails img")).toHaveCount(2);
  await expect(page.getByRole("img", { name: "mill.png" })).toBeVisible();
});

test("a clipboard with text and an image of it is pasted as text", async ({ page }) => {
  expect(await dropOrPaste(page, "paste", pondImage, "a\tb"), "left to the browser").toBe(false);
  await expect(page.locator(".thumbnails li")).toHaveCount(0);
  expect(await dropOrPaste(page, "paste", pondImage)).toBe(true);
  await expect(page.locator(".thumbnails li")).toHaveCount(1);
});

/** Opens another chat without a reload. */
const navigateTo = (page: Page, session: string) =>
  page.evaluate((session) => {
    history.pushState(null, "", `/s/${session}`);
    dispatchEvent(new PopStateEvent("popstate"));
  }, session);

test("leaving the chat during an upload affects neither the other chat nor the upload", async ({ page }) => {
  const [here, there] = [await gateway.newSession(), await gateway.newSession()];
  const field = page.getByRole("textbox", { name: "Message" });
  await page.goto(`${gateway.origin}/s/${here}`);
  let release = (): void => {};
  const held = new Promise<void>((done) => (release = done));
  await page.route("**/blobs", async (route) => {
    await held;
    await route.continue();
  });
  await attachFiles(page, pondImage);
  await field.fill("look at this");
  await Promise.all([page.waitForRequest("**/blobs"), field.press("Enter")]);
  await expect(page.getByRole("button", { name: "Sending" })).toBeDisabled();
  await navigateTo(page, there);
  await expect(field).toHaveValue("");
  await field.fill("something else");
  await expect(page.getByRole("button", { name: "Send", exact: true }), "this chat is not sending").toBeEnabled();
  // Via the start page: on return the draft is still being sent.
  await page.getByRole("button", { name: "New chat" }).first().click();
  await navigateTo(page, here);
  await expect(page.getByRole("button", { name: "Sending" })).toBeDisabled();
  await navigateTo(page, there);
  release();
  const title = async (session: string) => (await gateway.callApi<{ title: string }>("GET", `/v1/sessions/${session}`)).title;
  await expect.poll(() => title(here)).toBe("look at this");
  expect(await title(there)).toBe("");
  await expect(field).toHaveValue("something else");
  await navigateTo(page, here);
  await expect.poll(() => imageWidths(page)).toEqual([40]);
  await expect(field).toHaveValue("");
  await expect(page.locator(".thumbnails")).toBeHidden();
});

test("a failed branch loses nothing and creates one chat, however often it is retried", async ({ page }) => {
  const field = page.getByRole("textbox", { name: "Message" });
  await attachFiles(page, pondImage);
  await field.fill("list");
  await page.keyboard.press("Enter");
  await expect(page.locator(".status.ended")).toBeAttached();
  const before = page.url();
  const chats = async () => (await gateway.callApi<{ sessions: unknown[] }>("GET", "/v1/sessions?limit=100")).sessions.length;
  const count = await chats();
  const edit = async () => {
    await page.locator(".kind-user").getByRole("button", { name: "Edit as branch" }).click();
    await expect(page.locator(".thumbnails img"), "its image is shown").toHaveCount(1);
    await field.fill("list more");
  };

  // The outbox is full.
  await page.evaluate(() => {
    const message = { session: "01JZZZZZZZZZZZZZZZZZZZZZZZ", text: "x", refused: { code: "bad_request", message: "No." } };
    localStorage.setItem("millpond.letters", JSON.stringify(Array.from({ length: 100 }, (_, key) => ({ key: `${key}`, ...message }))));
  });
  await edit();
  await field.press("Enter");
  await expect(page.locator(".toast")).toContainText("Outbox full");
  await expect(field).toHaveValue("list more");
  expect(page.url()).toBe(before);
  await page.evaluate(() => localStorage.removeItem("millpond.letters"));

  // Uploads fail.
  await page.route("**/blobs", (route) => route.abort());
  for (let tried = 0; tried < 2; tried++) {
    await Promise.all([page.waitForEvent("requestfailed", (request) => request.url().endsWith("/blobs")), field.press("Enter")]);
    await expect(page.getByRole("button", { name: "Send", exact: true })).toBeEnabled();
    await expect(field).toHaveValue("list more");
  }
  await page.unroute("**/blobs");
  await field.press("Enter");
  await page.waitForURL((url) => url.href !== before);
  await expect(page.locator(".kind-user .message-text")).toHaveText("list more");
  await expect.poll(() => imageWidths(page)).toEqual([40]);
  expect(await chats()).toBe(count + 1);
});

test("an image can be removed from a message edited as a branch", async ({ page }) => {
  await attachFiles(page, pondImage);
  await page.getByRole("textbox", { name: "Message" }).fill("list");
  await page.keyboard.press("Enter");
  await expect(page.locator(".status.ended")).toBeAttached();
  const before = page.url();
  await page.locator(".kind-user").getByRole("button", { name: "Edit as branch" }).click();
  await page.locator(".thumbnails").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("list more");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href !== before);
  await expect(page.locator(".kind-user .message-text")).toHaveText("list more");
  await expect(page.locator(".kind-user img")).toHaveCount(0);
});

test("the object URL of a thumbnail exists only while it is shown", async ({ page }) => {
  const [here, there] = [await gateway.newSession("here"), await gateway.newSession("there")];
  const drawn = () => page.locator(".thumbnails img").evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth));
  const kept = async () => (await liveObjectUrls(page)).length;
  await attachFiles(page, pondImage, { ...pondImage, name: "mill.png" });
  await expect.poll(drawn).toEqual([40, 40]);
  expect(await kept()).toBe(2);
  await page.getByRole("button", { name: "Remove pond.png" }).click();
  await expect.poll(kept).toBe(1);
  // From the start page, whose composer is removed.
  await navigateTo(page, here);
  await expect(page.locator(".page")).toBeAttached();
  await expect.poll(kept).toBe(0);
  // From one chat to another, which share a composer.
  await attachFiles(page, pondImage);
  await expect.poll(drawn).toEqual([40]);
  await navigateTo(page, there);
  await expect(page.locator(".thumbnails")).toHaveCount(0);
  await expect.poll(kept).toBe(0);
  await navigateTo(page, here);
  await expect.poll(drawn).toEqual([40]);
  expect(await kept()).toBe(1);
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await expect.poll(() => imageWidths(page)).toEqual([40]);
  await expect.poll(kept).toBe(0);
  // Back on the start page its draft is shown again; it is sent with the first message.
  await page.getByRole("button", { name: "New chat", exact: true }).click();
  await expect.poll(drawn).toEqual([40]);
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await expect(page.locator(".kind-user .images")).toBeVisible();
  await expect.poll(kept).toBe(0);
  // A branch edit has its image until it is cancelled.
  await expect(page.locator(".status.ended")).toBeAttached();
  await page.locator(".kind-user").getByRole("button", { name: "Edit as branch" }).click();
  await expect.poll(drawn).toEqual([40]);
  await page.locator(".note").getByRole("button", { name: "Cancel" }).click();
  await expect.poll(kept).toBe(0);
});
