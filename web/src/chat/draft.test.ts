import { expect, test } from "vitest";
import { Draft } from "./draft.ts";

const imageFile = (name: string) => new File(["x"], name, { type: "image/png" });

test("what was sent is removed from its draft; what was added since stays", async () => {
  const stored: string[] = [];
  const draft = new Draft({ read: () => stored.at(-1) ?? "", write: (text) => stored.push(text) });
  const [one, two] = [imageFile("one"), imageFile("two")];
  draft.text = "look";
  draft.images = [one];
  let finishSending = (_: boolean): void => {};
  const sent = draft.sendWith(() => new Promise((done) => (finishSending = done)), { text: "look", images: [one] });
  expect(draft.isSending).toBe(true);
  draft.images = [one, two];
  finishSending(true);
  await sent;
  expect([draft.isSending, draft.text, stored.at(-1)]).toEqual([false, "", ""]);
  expect(draft.images).toEqual([two]);
});

test("what could not be sent stays, and can be sent again", async () => {
  const draft = new Draft();
  draft.text = "look";
  await draft.sendWith(async () => false, draft);
  await expect(draft.sendWith(() => Promise.reject(new Error("no")), draft)).rejects.toThrow("no");
  expect([draft.text, draft.isSending]).toEqual(["look", false]);
  draft.appendParagraph("more");
  expect(draft.text).toBe("look\n\nmore");
});
