// Pictures that a person shows: chosen, pasted or dropped, seen before and after they are sent.

import { deflateSync } from "node:zlib";
import { expect, test, type Page } from "./test.ts";
import type { TestGateway } from "./gateway.ts";

let gateway: TestGateway;
test.beforeAll(({ gateway: started }) => void (gateway = started));

test.beforeEach(async ({ page }) => {
  await page.goto(gateway.origin + (await gateway.loginPath()));
  await expect(page.getByRole("textbox", { name: "Message" })).toBeVisible();
});

/** A square of one colour. */
function png(side: number): Buffer {
  const part = (kind: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(kind), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length);
    ends.writeUInt32BE(crc(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side);
  head.writeUInt32BE(side, 4);
  head.set([8, 2], 8);
  const row = Buffer.alloc(1 + 3 * side, 90);
  row[0] = 0;
  const rows = deflateSync(Buffer.concat(Array.from({ length: side }, () => row)));
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), part("IHDR", head), part("IDAT", rows), part("IEND", Buffer.alloc(0))]);
}

function crc(bytes: Buffer): number {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

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

test("what is dropped or pasted is taken, what is too much or neither text nor picture is told", async ({ page }) => {
  const give = (how: "drop" | "paste", name: string, type: string) =>
    page.locator("mp-composer textarea").evaluate(
      (area, [how, name, type]) => {
        const data = new DataTransfer();
        data.items.add(new File([Uint8Array.of(0xff, 0xd8, 0xff)], name, { type }));
        const init = { bubbles: true, cancelable: true };
        area.dispatchEvent(how === "drop" ? new DragEvent("drop", { ...init, dataTransfer: data }) : new ClipboardEvent("paste", { ...init, clipboardData: data }));
      },
      [how, name, type] as const,
    );
  await give("drop", "a.jpg", "image/jpeg");
  await give("paste", "b.jpg", "image/jpeg");
  await expect(page.locator(".thumbnails li")).toHaveCount(2);
  await give("drop", "c.bin", "application/octet-stream");
  await expect(page.locator(".toast")).toContainText("c.bin cannot be put into a message");
  for (let more = 0; more < 7; more++) await give("paste", `${more}.jpg`, "image/jpeg");
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
