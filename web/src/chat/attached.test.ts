import { expect, test } from "vitest";
import { attachedText } from "./attached.ts";

test("a file is put into a fence that nothing in it can close", async () => {
  expect(await attachedText(new File(["a\n"], "a.txt"))).toBe("a.txt\n```\na\n```\n");
  const fenced = await attachedText(new File(["````\nx\n````"], "b`\n.md"));
  expect(fenced).toBe("b__.md\n`````\n````\nx\n````\n`````\n");
});

test("what is no text, or too long, is not put into a message", async () => {
  expect(await attachedText(new File([Uint8Array.of(0xff, 0xfe, 0)], "x.png"))).toBeUndefined();
  expect(await attachedText(new File(["a\0b"], "x"))).toBeUndefined();
  expect(await attachedText(new File(["x".repeat(256 * 1024)], "x"))).toBeDefined();
  expect(await attachedText(new File(["x".repeat(256 * 1024 + 1)], "x"))).toBeUndefined();
});
