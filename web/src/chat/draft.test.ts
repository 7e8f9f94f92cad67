import { expect, test } from "vitest";
import { Draft } from "./draft.ts";

const picture = (name: string) => new File(["x"], name, { type: "image/png" });

test("what is sent goes from its own draft, whatever is shown by then; what was written since stays", async () => {
  const kept: string[] = [];
  const draft = new Draft({ read: () => kept.at(-1) ?? "", write: (text) => kept.push(text) });
  const [one, two] = [picture("one"), picture("two")];
  draft.text = "look";
  draft.pictures = [one];
  let answer = (_: boolean): void => {};
  const sent = draft.sendBy(() => new Promise((done) => (answer = done)), { text: "look", pictures: [one] });
  expect(draft.sending).toBe(true);
  draft.pictures = [one, two];
  answer(true);
  await sent;
  expect([draft.sending, draft.text, kept.at(-1)]).toEqual([false, "", ""]);
  expect(draft.pictures).toEqual([two]);
});

test("what is not kept stays, and is not on its way any more", async () => {
  const draft = new Draft();
  draft.text = "look";
  await draft.sendBy(async () => false, draft);
  await expect(draft.sendBy(() => Promise.reject(new Error("no")), draft)).rejects.toThrow("no");
  expect([draft.text, draft.sending]).toEqual(["look", false]);
  draft.add("more");
  expect(draft.text).toBe("look\n\nmore");
});
