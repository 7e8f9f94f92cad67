// Markdown features under the app's content security policy.

import { expect, test, type Page } from "@playwright/test";
import { POLICY, serve, type Site } from "./site.ts";

let site: Site;
let page: Page;

test.beforeAll(async ({ browser }) => {
  test.setTimeout(600_000);
  site = await serve(POLICY);
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  page = await context.newPage();
  await page.addInitScript(() => {
    const violations: string[] = [];
    Object.assign(window, { violations });
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sample }) => {
      violations.push(`${effectiveDirective} ${blockedURI} ${sample}`);
    });
  });
  await page.goto(site.url);
  await page.waitForFunction(() => "harness" in window);
});

test.beforeEach(async () => {
  await page.evaluate(() => {
    document.body.replaceChildren();
    Object.assign(window, { violations: Object.assign(Reflect.get(window, "violations"), { length: 0 }) });
  });
});

test.afterAll(async () => {
  await page?.context().close();
  await site?.close();
});

async function show(text: string): Promise<void> {
  await page.evaluate((given) => {
    const { stream } = window.harness.open();
    for (const piece of window.harness.splitIntoPieces(given, 5)) stream.append(piece);
    stream.finish();
  }, text);
}

const violations = (): Promise<string[]> => page.evaluate(() => Reflect.get(window, "violations") as string[]);
const html = (): Promise<string> => page.evaluate(() => document.querySelector("main")?.innerHTML ?? "");

test("copying a block gives exactly its code, highlighted or not", async () => {
  const code = 'fn main() {\n\tprintln!("<a> & \\"b\\"");\n\n}  ';
  await show(`\`\`\`rust\n${code}\n\`\`\`\n`);
  await page.waitForSelector(".hljs-keyword");
  expect(await page.locator("code").textContent()).toBe(`${code}\n`);
  await page.getByRole("button", { name: "Copy" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(code);
  expect(await violations()).toEqual([]);
});

test("code in an unknown language, without one, or too long stays plain", async () => {
  const long = "let x = 1;\n".repeat(10_000);
  await show(`\`\`\`wibble\nlet x\n\`\`\`\n\n\`\`\`\nlet x\n\`\`\`\n\n\`\`\`js\n${long}\`\`\`\n\n\`\`\`js\nlet y = 2\n\`\`\`\n`);
  await page.waitForSelector(".hljs-keyword");
  expect(await page.locator("figure.md-code").count()).toBe(4);
  expect(await page.locator("figure:has(.hljs-keyword)").count()).toBe(1);
  expect(await page.locator("code").nth(2).evaluate((element) => element.textContent)).toBe(long);
});

test("a remote image is a button that calls createRemoteImage", async () => {
  await show("Look: ![a *chart*](https://pictures.example/c.png) [![in a link](http://other.example/d.png)](https://example.org)");
  const button = page.getByRole("button", { name: "Show image from pictures.example a chart" });
  await button.click();
  const shown = page.locator("output").first();
  expect(await shown.getAttribute("data-url")).toBe("https://pictures.example/c.png");
  expect(await shown.textContent()).toBe("a chart");
  await page.getByRole("button", { name: "Show image from other.example in a link" }).click();
  expect(await page.locator("a output").count()).toBe(1);
  expect(page.url()).toBe(site.url);
});

test("a shown remote image stays while the text grows", async () => {
  await page.evaluate(() => {
    const { stream } = window.harness.open();
    Object.assign(window, { stream });
    stream.append("![chart](https://pictures.example/c.png) and **more");
  });
  await page.getByRole("button").click();
  await page.evaluate(() => {
    const stream = Reflect.get(window, "stream") as { append(text: string): void; finish(): void };
    stream.append("** words\n\nanother paragraph\n");
    stream.finish();
  });
  expect(await page.locator("output").count()).toBe(1);
});

test("only session images are shown at once", async () => {
  await show(
    "![own](/v1/sessions/s1/blobs/b2) ![climbs](/v1/sessions/../blobs/x) ![data](data:image/png;base64,AA==) " +
      "![other](/v1/other) ![slashes](//evil.example/v1/sessions/a/blobs/b) ![coded](/v1/sessions/%2e%2e/blobs/x)",
  );
  expect(await page.locator("img").count()).toBe(1);
  expect(await page.locator("img").getAttribute("src")).toBe("/v1/sessions/s1/blobs/b2");
  expect(await page.locator("img").getAttribute("loading")).toBe("lazy");
  expect(await page.locator("main").textContent()).toBe(" climbs data other slashes coded");
});

test("misleading links show their destination", async () => {
  await show(
    "[docs](https://example.org/a) [paypal.com](https://evil.example/x) [https://a.example/](https://b.example/) " +
      "[www.same.example](https://same.example/path) [me@bank.example](mailto:thief@evil.example) " +
      "<https://user@host.example/> [rel](/docs) [script](javascript:alert(1)) [ftp](ftp://a.b) " +
      "https://example.com/\u202Egnp.exe [pay\u200Bpal.com](https://paypal.com)",
  );
  const links = await page.locator("a").evaluateAll((all) =>
    all.map((link) => [link.getAttribute("href"), link.querySelector(".md-host")?.textContent ?? null]),
  );
  expect(links).toEqual([
    ["https://example.org/a", null],
    ["https://evil.example/x", "evil.example"],
    ["https://b.example/", "b.example"],
    ["https://same.example/path", null],
    ["mailto:thief@evil.example", "thief@evil.example"],
    ["https://user@host.example/", "host.example"],
    ["https://example.com/%E2%80%AEgnp.exe", null],
    ["https://paypal.com/", null],
  ]);
  expect(await page.locator("main").textContent()).toContain("https://example.com/%E2%80%AEgnp.exe");
  for (const link of await page.locator("a").all()) {
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer nofollow");
    expect(await link.getAttribute("target")).toBe("_blank");
    expect(await link.getAttribute("data-to")).toBe(await link.getAttribute("href"));
  }
});

test("formulas are typeset, money is text, and an invalid formula shows its source", async () => {
  await show(
    "Inline $e^{i\\pi}$ and \\(a_b\\); it costs $5 and $10, or $5-$10, or US$3 and $4.\n\n$$\n\\frac{1}{2}\n$$\n\n" +
      "\\[\n\\begin{aligned} a &= b \\\\ &= c \\end{aligned}\n\\]\n\nWrong: $\\frac{1}$ and $\\nope{x}$.\n",
  );
  await page.waitForSelector("math");
  expect(await page.locator("math").count()).toBe(4);
  expect(await page.locator("math[display=block]").count()).toBe(2);
  expect(await page.locator("mtd.md-right").count()).toBe(2);
  expect(await page.locator(".md-math > code").allTextContents()).toEqual(["\\frac{1}", "\\nope{x}"]);
  expect(await page.locator("p").first().textContent()).toContain("it costs $5 and $10, or $5-$10, or US$3 and $4.");
  expect(await page.locator("main [style]").count()).toBe(0);
  expect(await violations()).toEqual([]);
});

test("an unclosed formula is held back or shown as source, never with its delimiters", async () => {
  const seen = await page.evaluate(() => {
    const { host, stream } = window.harness.openUnthrottled();
    const texts: string[] = [];
    for (const character of "So \\(a+b\\) is $x_1$ here.\n\n$$\na = b\n- c\n$$\n\nDone.") {
      stream.append(character);
      texts.push(host.textContent ?? "");
    }
    return texts;
  });
  expect(seen.filter((text) => /\$|\\/.test(text))).toEqual([]);
  await page.waitForSelector("math");
});

test("a diagram is an image, with its source available", async () => {
  await show("```mermaid\nflowchart LR\n  A[Start here] --> B{Is it so?}\n  B -->|yes| C[(Store)]\n```\n");
  const image = page.locator("figure.md-diagram > img");
  await image.waitFor();
  await expect.poll(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBeGreaterThan(100);
  expect(await image.getAttribute("alt")).toBe("Diagram");
  expect(await image.getAttribute("src")).toMatch(/^blob:/);
  expect(await page.locator("details code").textContent()).toContain("A[Start here] --> B{Is it so?}");
  expect(await page.evaluate(() => document.querySelectorAll("body > div, [id], svg").length)).toBe(0);
  const broken = (await violations()).filter((violation) => !violation.startsWith("style-src"));
  expect(broken).toEqual([]);
  console.log(`a diagram: ${(await violations()).length} reports of inline styles while it is measured, none of anything else`);
});

test("kinds of diagrams", async () => {
  const sources = [
    "sequenceDiagram\n  Alice->>Bob: Hello\n  Bob-->>Alice: Hi",
    "classDiagram\n  class Pond {\n    +int depth\n  }\n  Pond <|-- Lake",
    "stateDiagram-v2\n  [*] --> Still\n  Still --> [*]",
    "pie title Fish\n  \"Carp\" : 40\n  \"Perch\" : 60",
    "gantt\n  title Plan\n  section A\n  Task :a1, 2026-01-01, 3d",
    "erDiagram\n  RUN ||--o{ EVENT : has",
  ];
  await show(sources.map((source) => `\`\`\`mermaid\n${source}\n\`\`\``).join("\n\n"));
  await expect.poll(() => page.locator("figure.md-diagram > img").count()).toBe(sources.length);
  const widths = await page.locator("figure.md-diagram > img").evaluateAll((all) =>
    Promise.all(all.map(async (image) => ((await (image as HTMLImageElement).decode()), (image as HTMLImageElement).naturalWidth))),
  );
  expect(widths.every((width) => width > 50)).toBe(true);
});

test("an invalid diagram, or one that would fetch something, stays code", async () => {
  const sources = [
    "flowchart LR\n  A --> --> B",
    "not a diagram",
    "flowchart LR\n  A --> B\n  style A fill:url(https://evil.example/x.svg)",
    'flowchart LR\n  A@{ img: "https://evil.example/x.png" }',
    '%%{init: {"themeCSS": "@import \'https://evil.example/x.css\'"}}%%\nflowchart LR\n  A --> B',
    'flowchart LR\n  A["<img src=https://evil.example/x.png>"] --> B',
  ];
  const foreign: string[] = [];
  const note = (request: { url(): string }): void => void (request.url().includes("evil") && foreign.push(request.url()));
  page.on("request", note);
  await show([...sources, "pie\n  \"a\" : 1"].map((source) => `\`\`\`mermaid\n${source}\n\`\`\``).join("\n\n"));
  await page.waitForSelector("figure.md-diagram > img");
  page.off("request", note);
  expect(await page.locator("figure.md-code:not(.md-diagram)").count()).toBe(sources.length);
  expect(foreign).toEqual([]);
});

test("tasks are disabled, labelled checkboxes", async () => {
  await show("- [x] done **well**\n- [ ] open\n- [y] no task\n");
  expect(await page.getByRole("checkbox", { name: "done well" }).isChecked()).toBe(true);
  expect(await page.getByRole("checkbox", { name: "open" }).isDisabled()).toBe(true);
  expect(await page.getByRole("checkbox").count()).toBe(2);
});

test("a definition after its use is applied when the text ends", async () => {
  await show(`First [a] and [b][c].\n\n${"More words.\n\n".repeat(50)}[a]: https://a.example/\n[c]: https://c.example/\n`);
  expect(await page.locator("a").evaluateAll((all) => all.map((link) => link.getAttribute("href")))).toEqual([
    "https://a.example/",
    "https://c.example/",
  ]);
});

test("replacing a text keeps unchanged elements and can be continued", async () => {
  const kept = await page.evaluate(() => {
    const { host, stream } = window.harness.open();
    stream.append("# Title\n\nOne.\n\nTwo.\n\nThr");
    const title = host.querySelector("h1");
    stream.replace("# Title\n\nOne.\n\n2.\n\nThree.\n\n");
    stream.append("Four.");
    stream.finish();
    stream.append(" Five.");
    stream.finish();
    return { isSame: title === host.querySelector("h1"), text: [...host.querySelectorAll("p, li")].map((p) => p.textContent) };
  });
  expect(kept).toEqual({ isSame: true, text: ["One.", "", "Three.", "Four. Five."] });
});

test("everything works in a shadow root", async () => {
  await page.evaluate(() => {
    const holder = document.body.appendChild(document.createElement("div"));
    const root = holder.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(window.harness.styles);
    root.adoptedStyleSheets = [sheet];
    const { stream } = window.harness.open(root);
    stream.append("`x` $y^2$ ![p](https://pictures.example/p.png)\n\n```js\nlet a = 1;\n```\n\n```mermaid\npie\n  \"a\" : 1\n```\n");
    stream.finish();
  });
  await page.locator("math").waitFor();
  await page.locator(".hljs-keyword").waitFor();
  await page.locator("figure.md-diagram > img").waitFor();
  await page.getByRole("button", { name: "Copy" }).first().click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("let a = 1;");
  await page.getByRole("button", { name: /Show image/ }).click();
  await page.locator("output").waitFor();
});

test("the export has the same link policy, and no buttons or scripts", async () => {
  const exported = await page.evaluate(() =>
    window.harness.renderToHtml(
      "<script>alert(1)</script> [a](javascript:alert(1)) ![chart](https://pictures.example/c.png) $x$\n\n```js\nlet a\n```\n",
    ),
  );
  expect(exported).toContain('<a href="https://pictures.example/c.png"');
  expect(exported).not.toMatch(/<script|<button|<img|href="javascript/);
  expect(exported).toContain("&lt;script&gt;");
});

test("each block has its own direction", async () => {
  await show("שלום\n\n- אחד\n- two\n\nHello\n");
  const directions = await page.locator("p, li").evaluateAll((all) => all.map((element) => getComputedStyle(element).direction));
  expect(directions).toEqual(["rtl", "rtl", "ltr", "ltr"]);
  expect(await html()).not.toContain("style=");
});
