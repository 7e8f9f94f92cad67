import { expect, test } from "vitest";
import { fileAsFencedText } from "./text-attachment.ts";

test("a file is fenced so that its content cannot close the fence", async () => {
  expect(await fileAsFencedText(new File(["a\n"], "a.txt"))).toBe("a.txt\n```\na\n```\n");
  const fenced = await fileAsFencedText(new File(["````\nx\n````"], "b`\n.md"));
  expect(fenced).toBe("b__.md\n`````\n````\nx\n````\n`````\n");
});

test("files that are not text, or too large, are rejected", async () => {
  expect(await fileAsFencedText(new File([Uint8Array.of(0xff, 0xfe, 0)], "x.png"))).toBeUndefined();
  expect(await fileAsFencedText(new File(["a\0b"], "x"))).toBeUndefined();
  expect(await fileAsFencedText(new File(["x".repeat(256 * 1024)], "x"))).toBeDefined();
  expect(await fileAsFencedText(new File(["x".repeat(256 * 1024 + 1)], "x"))).toBeUndefined();
});
