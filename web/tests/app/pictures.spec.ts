// Pictures that a person shows: chosen, pasted or dropped, seen before and after they are sent.

import { expect, test, type Page } from "./test.ts";
import type { TestGateway } from "./gateway.ts";
import { countObjectUrls, objectUrls } from "./object-urls.ts";
import { png } from "./png.ts";

let gateway: TestGateway;
test.beforeAll(({ gateway: started }) => void (gateway = started));

test.beforeEach(async ({ page }) => {
  await countObjectUrls(page.context());
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
});

const choose = (page: Page, ...files: { name: string; mimeType: string; buffer: Buffer }[]) =>
  page.locator("mp-composer input[type=file]").setInputFiles(files);
const pond = { name: "pond.png", mimeType: "image/png", buffer: png(40) };

/** Pictures of what the person wrote, as wide as the browser has them. */
const widths = (page: Page) => page.locator(".of-user img").evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth));

test("a picture goes with the first message of a chat, and one without words in it", async ({ page }) => {
  await choose(page, pond);
  await expect(page.getByRole("img", { name: "pond.png" })).toBeVisible();
  await page.getByRole("textbox", { name: "Message" }).fill("look");
  await page.keyboard.press("Enter");
  await expect(page.locator(".of-user .said")).toHaveText("look");
  await expect.poll(() => widths(page)).toEqual([40]);
  await expect(page.locator(".thumbnails")).toBeHidden();

  await choose(page, pond, { ...pond, name: "large.png", buffer: png(3000) });
  await page.getByRole("button", { name: "Remove pond.png" }).click();
  await page.keyboard.press("Enter");
  await expect.poll(() => widths(page), { timeout: 15_000 }).toEqual([40, 2048]);
  await page.reload();
  await expect.poll(() => widths(page)).toEqual([40, 2048]);
  await page.locator(".of-user").first().getByRole("button", { name: "Open large" }).click();
  await expect(page.getByRole("dialog").getByRole("img")).toBeVisible();
});

test("a picture waits with its message, and stays with one that is written anew", async ({ page }) => {
  await page.getByRole("textbox", { name: "Message" }).fill("compute 4+4");
  await page.keyboard.press("Enter");
  await page.locator(".ask").waitFor();
  await choose(page, pond);
  await page.getByRole("textbox", { name: "Message" }).fill("list");
  await page.keyboard.press("Enter");
  const waiting = page.locator(".queue li");
  await expect(waiting).toContainText("with a picture");
  await waiting.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edit" }).fill("think");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(waiting).toContainText("with a picture");
  await page.locator(".ask").getByRole("button", { name: "Deny" }).click({ delay: 400 });
  await expect(page.locator(".of-user .said")).toHaveText(["compute 4+4", "think"]);
  await expect.poll(() => widths(page)).toEqual([40]);
  await expect(page.locator(".status.ended")).toBeVisible({ timeout: 30_000 });

  const before = page.url();
  await page.locator(".of-user").nth(1).getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("help");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href !== before);
  await expect(page.locator(".of-user .said")).toHaveText(["compute 4+4", "help"]);
  await expect.poll(() => widths(page)).toEqual([40]);
});

/** Gives it to the field as a browser does. Says whether the field took it, and not the browser. */
const give = (page: Page, how: "drop" | "paste", file: typeof pond, words = "") =>
  page.locator("mp-composer textarea").evaluate(
    (area, [how, name, type, bytes, words]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(bytes)], name, { type }));
      if (words) data.items.add(words, "text/plain");
      const init = { bubbles: true, cancelable: true };
      return !area.dispatchEvent(how === "drop" ? new DragEvent("drop", { ...init, dataTransfer: data }) : new ClipboardEvent("paste", { ...init, clipboardData: data }));
    },
    [how, file.name, file.mimeType, [...file.buffer], words] as const,
  );

test("what is dropped or pasted is taken, what is too much or neither text nor picture is told", async ({ page }) => {
  await give(page, "drop", { ...pond, name: "a.png" });
  await give(page, "paste", { ...pond, name: "b.png" });
  await expect(page.locator(".thumbnails li")).toHaveCount(2);
  await give(page, "drop", { name: "c.bin", mimeType: "application/octet-stream", buffer: Buffer.of(0xff, 0xd8, 0xff) });
  await expect(page.locator(".toast")).toContainText("c.bin cannot be put into a message");
  for (let more = 0; more < 7; more++) await give(page, "paste", { ...pond, name: `${more}.png` });
  await expect(page.locator(".thumbnails li")).toHaveCount(8);
  await expect(page.locator(".toast").last()).toContainText("at most 8 pictures");
});

test("what cannot be uploaded stays where it was written", async ({ page }) => {
  await page.getByRole("textbox", { name: "Message" }).fill("compute 5+5");
  await page.keyboard.press("Enter");
  await page.locator(".ask").waitFor();
  await page.route("**/blobs", (route) => route.abort());
  await choose(page, pond);
  await page.getByRole("textbox", { name: "Message" }).fill("look");
  await page.keyboard.press("Enter");
  await expect(page.locator(".toast")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("look");
  await expect(page.getByRole("img", { name: "pond.png" })).toBeVisible();
  await page.unroute("**/blobs");
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await expect(page.locator(".queue li")).toContainText("with a picture");
});

test("a message that is refused comes back into the field with its picture", async ({ page }) => {
  await page.getByRole("textbox", { name: "Message" }).fill("list");
  await page.keyboard.press("Enter");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  await page.route("**/messages", (route) => route.fulfill({ status: 409, json: { error: { code: "queue_full", message: "Too many messages wait." } } }));
  await choose(page, pond);
  await page.getByRole("textbox", { name: "Message" }).fill("look");
  await page.keyboard.press("Enter");
  await page.locator(".letter").getByRole("button", { name: "Put back" }).click();
  await expect(page.getByRole("textbox", { name: "Message" })).toHaveValue("look");
  await expect(page.locator(".thumbnails img")).toHaveCount(1);
  await page.unroute("**/messages");
  await page.keyboard.press("Enter");
  await expect.poll(() => widths(page)).toEqual([40]);
});

test("a file that is no picture though its name says so is refused by name, and the others stay", async ({ page }) => {
  const broken = { name: "torn.jpg", mimeType: "image/jpeg", buffer: Buffer.of(0xff, 0xd8, 0xff) };
  await choose(page, pond, broken, { ...pond, name: "mill.png" });
  await expect(page.locator(".toast")).toContainText("torn.jpg cannot be read as a picture");
  await expect(page.locator(".thumbnails img")).toHaveCount(2);
  await expect(page.getByRole("img", { name: "mill.png" })).toBeVisible();
});

test("what is copied as words and as a picture of them is pasted as words", async ({ page }) => {
  expect(await give(page, "paste", pond, "a\tb"), "the browser pastes it").toBe(false);
  await expect(page.locator(".thumbnails li")).toHaveCount(0);
  expect(await give(page, "paste", pond)).toBe(true);
  await expect(page.locator(".thumbnails li")).toHaveCount(1);
});

/** To another chat, in the same page. */
const goTo = (page: Page, session: string) =>
  page.evaluate((session) => {
    history.pushState(null, "", `/s/${session}`);
    dispatchEvent(new PopStateEvent("popstate"));
  }, session);

test("who goes to another chat during an upload finds nothing of it there, and nothing left where it was", async ({ page }) => {
  const [here, there] = [await gateway.newSession(), await gateway.newSession()];
  const field = page.getByRole("textbox", { name: "Message" });
  await page.goto(`${gateway.origin}/s/${here}`);
  let release = (): void => {};
  const held = new Promise<void>((done) => (release = done));
  await page.route("**/blobs", async (route) => {
    await held;
    await route.continue();
  });
  await choose(page, pond);
  await field.fill("look at this");
  await Promise.all([page.waitForRequest("**/blobs"), field.press("Enter")]);
  await expect(page.getByRole("button", { name: "Sending" })).toBeDisabled();
  await goTo(page, there);
  await expect(field).toHaveValue("");
  await field.fill("something else");
  await expect(page.getByRole("button", { name: "Send", exact: true }), "this chat sends nothing").toBeEnabled();
  // By way of the start, where no chat is: it is known on the way back that it is being sent.
  await page.getByRole("button", { name: "New chat" }).first().click();
  await goTo(page, here);
  await expect(page.getByRole("button", { name: "Sending" })).toBeDisabled();
  await goTo(page, there);
  release();
  const title = async (session: string) => (await gateway.call<{ title: string }>("GET", `/v1/sessions/${session}`)).title;
  await expect.poll(() => title(here)).toBe("look at this");
  expect(await title(there)).toBe("");
  await expect(field).toHaveValue("something else");
  await goTo(page, here);
  await expect.poll(() => widths(page)).toEqual([40]);
  await expect(field).toHaveValue("");
  await expect(page.locator(".thumbnails")).toBeHidden();
});

test("a branch that does not come about loses nothing and leaves one chat, however often it is tried", async ({ page }) => {
  const field = page.getByRole("textbox", { name: "Message" });
  await choose(page, pond);
  await field.fill("list");
  await page.keyboard.press("Enter");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  const before = page.url();
  const chats = async () => (await gateway.call<{ sessions: unknown[] }>("GET", "/v1/sessions?limit=100")).sessions.length;
  const count = await chats();
  const edit = async () => {
    await page.locator(".of-user").getByRole("button", { name: "Edit as a branch" }).click();
    await expect(page.locator(".thumbnails img"), "its picture is shown").toHaveCount(1);
    await field.fill("list more");
  };

  // The outbox is full.
  await page.evaluate(() => {
    const letter = { session: "01JZZZZZZZZZZZZZZZZZZZZZZZ", text: "x", refused: { code: "bad_request", message: "No." } };
    localStorage.setItem("millpond.letters", JSON.stringify(Array.from({ length: 100 }, (_, key) => ({ key: `${key}`, ...letter }))));
  });
  await edit();
  await field.press("Enter");
  await expect(page.locator(".toast")).toContainText("A hundred messages wait");
  await expect(field).toHaveValue("list more");
  expect(page.url()).toBe(before);
  await page.evaluate(() => localStorage.removeItem("millpond.letters"));

  // Pictures do not get through.
  await page.route("**/blobs", (route) => route.abort());
  for (let tried = 0; tried < 2; tried++) {
    await Promise.all([page.waitForEvent("requestfailed", (request) => request.url().endsWith("/blobs")), field.press("Enter")]);
    await expect(page.getByRole("button", { name: "Send", exact: true })).toBeEnabled();
    await expect(field).toHaveValue("list more");
  }
  await page.unroute("**/blobs");
  await field.press("Enter");
  await page.waitForURL((url) => url.href !== before);
  await expect(page.locator(".of-user .said")).toHaveText("list more");
  await expect.poll(() => widths(page)).toEqual([40]);
  expect(await chats()).toBe(count + 1);
});

test("a picture of a message that is written anew can be taken out", async ({ page }) => {
  await choose(page, pond);
  await page.getByRole("textbox", { name: "Message" }).fill("list");
  await page.keyboard.press("Enter");
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  const before = page.url();
  await page.locator(".of-user").getByRole("button", { name: "Edit as a branch" }).click();
  await page.locator(".thumbnails").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("list more");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href !== before);
  await expect(page.locator(".of-user .said")).toHaveText("list more");
  await expect(page.locator(".of-user img")).toHaveCount(0);
});

test("what a thumbnail is drawn from is given back when it is not shown, and had again when it is", async ({ page }) => {
  const [here, there] = [await gateway.newSession("here"), await gateway.newSession("there")];
  const drawn = () => page.locator(".thumbnails img").evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth));
  const kept = async () => (await objectUrls(page)).length;
  await choose(page, pond, { ...pond, name: "mill.png" });
  await expect.poll(drawn).toEqual([40, 40]);
  expect(await kept()).toBe(2);
  await page.getByRole("button", { name: "Remove pond.png" }).click();
  await expect.poll(kept).toBe(1);
  // From the start, where the field goes with its page.
  await goTo(page, here);
  await expect(page.locator(".page")).toBeAttached();
  await expect.poll(kept).toBe(0);
  // From a chat to another, which have the same field.
  await choose(page, pond);
  await expect.poll(drawn).toEqual([40]);
  await goTo(page, there);
  await expect(page.locator(".thumbnails")).toHaveCount(0);
  await expect.poll(kept).toBe(0);
  await goTo(page, here);
  await expect.poll(drawn).toEqual([40]);
  expect(await kept()).toBe(1);
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await expect.poll(() => widths(page)).toEqual([40]);
  await expect.poll(kept).toBe(0);
  // Back at the start, what waits there is drawn again; it goes with the first message.
  await page.getByRole("button", { name: "New chat", exact: true }).click();
  await expect.poll(drawn).toEqual([40]);
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await expect(page.locator(".of-user .pictures")).toBeVisible();
  await expect.poll(kept).toBe(0);
  // One that is written anew has its picture for as long as it is.
  await expect(page.locator(".status.ended")).toBeAttached({ timeout: 20_000 });
  await page.locator(".of-user").getByRole("button", { name: "Edit as a branch" }).click();
  await expect.poll(drawn).toEqual([40]);
  await page.locator(".note").getByRole("button", { name: "Cancel" }).click();
  await expect.poll(kept).toBe(0);
});
