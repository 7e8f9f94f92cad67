import { Page, type Item } from "@millpond/client";
import { expect, test } from "vitest";
import { en } from "../words/en.ts";
import { exported, type Exported, type Format } from "./export.ts";

const SECRET = "hunter2-and-more";
const PICTURE = `sha256:${"0".repeat(64)}`;
const ADDRESS = "data:image/png;base64,AAAA";

function pageOf(items: Partial<Item>[]): Page {
  const page = new Page();
  items.forEach((item, i) => page.apply({ i, put: { kind: "text", run: "r", id: `m${i}`, state: "done", ...item } }));
  return page;
}

async function text({ pieces }: Exported): Promise<string> {
  let all = "";
  for await (const piece of pieces) all += piece;
  return all;
}

const told = { language: "en", words: en, picturesOf: async () => new Map([[PICTURE, ADDRESS]]) };

function file(items: Partial<Item>[] | Page, format: Format, title = "x"): Promise<string> {
  return text(exported(items instanceof Page ? items : pageOf(items), format, { ...told, title }));
}

test("a secret in JSON inside JSON leaves in no format", async () => {
  const call = JSON.stringify({ api_key: SECRET, path: "a" });
  const items: Partial<Item>[] = [{ kind: "tool", name: "send", arguments: call, text: `token=${SECRET}` }];
  for (const format of ["markdown", "json", "html"] as const) {
    const text = await file(items, format, `password=${SECRET}`);
    expect(text, format).not.toContain(SECRET);
    expect(text, format).toContain("[redacted]");
  }
  expect(JSON.parse(await file(items, "json"))).toHaveProperty("items");
});

test("a secret in the words that a run failed with leaves in no format", async () => {
  const page = new Page();
  page.apply({ ended: { run: "r", outcome: "failed", detail: `401 for https://a.example/v1?key=${SECRET}` } } as Parameters<Page["apply"]>[0]);
  expect(page.ended?.detail).toContain(SECRET);
  for (const format of ["markdown", "json", "html"] as const) {
    expect(await file(page, format), format).not.toContain(SECRET);
  }
  expect(await file(page, "html")).toContain("Failed: 401 for https:");
});

test("what was taken back is in no file", async () => {
  const page = new Page();
  page.apply({ i: 0, put: { kind: "text", run: "r", id: "m0", state: "done", text: "never mind" } });
  page.apply({ withdrawn: [0] });
  expect(await file(page, "markdown")).not.toContain("never mind");
});

test("a web page has markdown as it looks, what was asked and answered, and its pictures in itself", async () => {
  const html = await file(
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

test("JSON and markdown that are written item by item are what they would be as a whole", async () => {
  const items = [{ kind: "user", text: "one\ntwo" }, { text: "" }, { text: "three\u2028four" }] as const;
  const whole = { title: "x", items: [...pageOf([...items]).items.values()] };
  expect(await file([...items], "json")).toBe(JSON.stringify(whole, null, 2));
  expect(await file([], "json")).toBe(JSON.stringify({ title: "x", items: [] }, null, 2));
  expect(await file([...items], "markdown")).toBe("# x\n\n**You**\n\n> one\n> two\n\nthree\u2028four\n");
  expect(await file([], "markdown")).toBe("# x\n");
});

test("a file is the page at one moment, whatever comes while it is written", async () => {
  const page = pageOf([{ kind: "user", text: "one" }, { text: "two", state: "live" }]);
  const pieces = exported(page, "html", { ...told, title: "x" }).pieces as AsyncIterable<string>;
  let all = "";
  for await (const piece of pieces) {
    all += piece;
    page.apply({ i: 1, t: " more" });
    page.apply({ i: 1, citation: { url: "https://later.example/", title: "later" } } as never);
  }
  expect(all).toContain("two");
  expect(all).not.toMatch(/more|later/);
});
