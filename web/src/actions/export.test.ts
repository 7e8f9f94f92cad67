import { Page, type Item } from "@millpond/client";
import { expect, test } from "vitest";
import { en } from "../i18n/en.ts";
import { exportPage, type ExportFile, type Format } from "./export.ts";

const SECRET = "hunter2-and-more";
const IMAGE_REF = `sha256:${"0".repeat(64)}`;
const DATA_URL = "data:image/png;base64,AAAA";

function pageOf(items: Partial<Item>[]): Page {
  const page = new Page();
  items.forEach((item, i) => page.apply({ i, put: { kind: "text", run: "r", id: `m${i}`, state: "done", ...item } }));
  return page;
}

async function readAll({ pieces }: ExportFile): Promise<string> {
  let text = "";
  for await (const piece of pieces) text += piece;
  return text;
}

const options = { language: "en", strings: en, loadImages: async () => new Map([[IMAGE_REF, DATA_URL]]) };

function exportText(items: Partial<Item>[] | Page, format: Format, title = "x"): Promise<string> {
  return readAll(exportPage(items instanceof Page ? items : pageOf(items), format, { ...options, title }));
}

test("a secret in JSON inside JSON is in no export", async () => {
  const call = JSON.stringify({ api_key: SECRET, path: "a" });
  const items: Partial<Item>[] = [{ kind: "tool", name: "send", arguments: call, text: `token=${SECRET}` }];
  for (const format of ["markdown", "json", "html"] as const) {
    const text = await exportText(items, format, `password=${SECRET}`);
    expect(text, format).not.toContain(SECRET);
    expect(text, format).toContain("[redacted]");
  }
  expect(JSON.parse(await exportText(items, "json"))).toHaveProperty("items");
});

test("a secret in a run's error message is in no export", async () => {
  const page = new Page();
  page.apply({ ended: { run: "r", outcome: "failed", detail: `401 for https://a.example/v1?key=${SECRET}` } } as Parameters<Page["apply"]>[0]);
  expect(page.ended?.detail).toContain(SECRET);
  for (const format of ["markdown", "json", "html"] as const) {
    expect(await exportText(page, format), format).not.toContain(SECRET);
  }
  expect(await exportText(page, "html")).toContain("Failed: 401 for https:");
});

test("a withdrawn item is in no export", async () => {
  const page = new Page();
  page.apply({ i: 0, put: { kind: "text", run: "r", id: "m0", state: "done", text: "never mind" } });
  page.apply({ withdrawn: [0] });
  expect(await exportText(page, "markdown")).not.toContain("never mind");
});

test("HTML has rendered Markdown, asks with their answers, and embedded images", async () => {
  const html = await exportText(
    [
      { kind: "user", text: "**as I wrote it** <b>" },
      { text: "**bold** and\n\n| a |\n|---|\n| b |", images: [{ ref: IMAGE_REF }, { ref: "https://a.example/x.png" }] },
      { kind: "ask", text: "rm \u202e-rf", result: "Deny" },
      { kind: "steps", label: "Ran for 2s", steps: [{ kind: "tool", run: "r", id: "t", state: "done", name: "look", arguments: "{}", images: [{ ref: IMAGE_REF }] }] },
    ],
    "html",
    "<script>alert(1)</script>",
  );
  expect(html).toContain("<strong>bold</strong>");
  expect(html).toContain("<td>b</td>");
  expect(html, "user text is not rendered").toContain("**as I wrote it** &#60;b&#62;");
  expect(html.split(`<img src="${DATA_URL}"`).length - 1).toBe(2);
  expect(html, "remote images are links").toContain('href="https://a.example/x.png"');
  expect(html).toContain("rm \\u{202e}-rf");
  expect(html).toContain("Answer: Deny");
  expect(html).toContain("Ran for 2s");
  expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"`);
  expect(html).not.toMatch(/<script|<b>|javascript:|\son\w+=/);
});

test("JSON and Markdown written item by item equal those written as a whole", async () => {
  const items = [{ kind: "user", text: "one\ntwo" }, { text: "" }, { text: "three\u2028four" }] as const;
  const whole = { title: "x", items: [...pageOf([...items]).items.values()] };
  expect(await exportText([...items], "json")).toBe(JSON.stringify(whole, null, 2));
  expect(await exportText([], "json")).toBe(JSON.stringify({ title: "x", items: [] }, null, 2));
  expect(await exportText([...items], "markdown")).toBe("# x\n\n**You**\n\n> one\n> two\n\nthree\u2028four\n");
  expect(await exportText([], "markdown")).toBe("# x\n");
});

test("an export is a snapshot: later changes of the page are not in it", async () => {
  const page = pageOf([{ kind: "user", text: "one" }, { text: "two", state: "live" }]);
  const pieces = exportPage(page, "html", { ...options, title: "x" }).pieces as AsyncIterable<string>;
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    page.apply({ i: 1, t: " more" });
    page.apply({ i: 1, citation: { url: "https://later.example/", title: "later" } } as never);
  }
  expect(text).toContain("two");
  expect(text).not.toMatch(/more|later/);
});
