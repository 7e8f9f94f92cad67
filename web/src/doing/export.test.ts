import { Page } from "@millpond/client";
import { expect, test } from "vitest";
import { en } from "../words/en.ts";
import { exported } from "./export.ts";

const SECRET = "hunter2-and-more";

test("a secret in JSON inside JSON leaves in no format", () => {
  const page = new Page();
  const call = JSON.stringify({ api_key: SECRET, path: "a" });
  page.apply({ i: 0, put: { kind: "tool", run: "r", id: "s0", state: "done", name: "send", arguments: call, text: `token=${SECRET}` } });
  for (const format of ["markdown", "json", "html"] as const) {
    const { text } = exported(page, `password=${SECRET}`, format, en);
    expect(text, format).not.toContain(SECRET);
    expect(text, format).toContain("[redacted]");
  }
  expect(JSON.parse(exported(page, "x", "json", en).text)).toHaveProperty("items");
});

test("what was taken back is in no file", () => {
  const page = new Page();
  page.apply({ i: 0, put: { kind: "text", run: "r", id: "m0", state: "done", text: "never mind" } });
  page.apply({ withdrawn: [0] });
  expect(exported(page, "x", "markdown", en).text).not.toContain("never mind");
});
