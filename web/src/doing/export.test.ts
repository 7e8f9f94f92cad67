import { Page, type Item } from "@millpond/client";
import { expect, test } from "vitest";
import { en } from "../words/en.ts";
import { exported, type Format } from "./export.ts";

const SECRET = "hunter2-and-more";
const PICTURE = `sha256:${"0".repeat(64)}`;
const ADDRESS = "data:image/png;base64,AAAA";

function file(items: Partial<Item>[], format: Format, title = "x"): string {
  const page = new Page();
  items.forEach((item, i) => page.apply({ i, put: { kind: "text", run: "r", id: `m${i}`, state: "done", ...item } }));
  return exported(page, format, { title, language: "en", words: en, pictures: new Map([[PICTURE, ADDRESS]]) }).text;
}

test("a secret in JSON inside JSON leaves in no format", () => {
  const call = JSON.stringify({ api_key: SECRET, path: "a" });
  const items: Partial<Item>[] = [{ kind: "tool", name: "send", arguments: call, text: `token=${SECRET}` }];
  for (const format of ["markdown", "json", "html"] as const) {
    const text = file(items, format, `password=${SECRET}`);
    expect(text, format).not.toContain(SECRET);
    expect(text, format).toContain("[redacted]");
  }
  expect(JSON.parse(file(items, "json"))).toHaveProperty("items");
});

test("a secret in the words that a run failed with leaves in no format", () => {
  const page = new Page();
  page.apply({ ended: { run: "r", outcome: "failed", detail: `401 for https://a.example/v1?key=${SECRET}` } } as Parameters<Page["apply"]>[0]);
  expect(page.ended?.detail).toContain(SECRET);
  for (const format of ["markdown", "json", "html"] as const) {
    const { text } = exported(page, format, { title: "x", language: "en", words: en, pictures: new Map() });
    expect(text, format).not.toContain(SECRET);
  }
  expect(exported(page, "html", { title: "x", language: "en", words: en, pictures: new Map() }).text).toContain("Failed: 401 for https:");
});

test("what was taken back is in no file", () => {
  const page = new Page();
  page.apply({ i: 0, put: { kind: "text", run: "r", id: "m0", state: "done", text: "never mind" } });
  page.apply({ withdrawn: [0] });
  expect(exported(page, "markdown", { title: "x", language: "en", words: en, pictures: new Map() }).text).not.toContain("never mind");
});

test("a web page has markdown as it looks, what was asked and answered, and its pictures in itself", () => {
  const html = file(
    [
      { kind: "user", text: "**as I wrote it** <b>" },
      { text: "**bold** and\n\n| a |\n|---|\n| b |", images: [{ ref: PICTURE }, { ref: "https://a.example/x.png" }] },
      { kind: "ask", text: "rm \u202e-rf", result: "Deny" },
      { kind: "steps", label: "Ran for 2s", steps: [{ kind: "tool", run: "r", id: "t", state: "done", name: "look", arguments: "{}", images: [{ ref: PICTURE }] }] },
    ],
    "html",
    "<script>alert(1)</script>",
  );
  expect(html).toContain("<strong>bold</strong>");
  expect(html).toContain("<td>b</td>");
  expect(html, "what a person wrote is theirs").toContain("**as I wrote it** &#60;b&#62;");
  expect(html.split(`<img src="${ADDRESS}"`).length - 1).toBe(2);
  expect(html, "nothing is asked of others").toContain('href="https://a.example/x.png"');
  expect(html).toContain("rm \\u{202e}-rf");
  expect(html).toContain("Answer: Deny");
  expect(html).toContain("Ran for 2s");
  expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"`);
  expect(html).not.toMatch(/<script|<b>|javascript:|\son\w+=/);
});
