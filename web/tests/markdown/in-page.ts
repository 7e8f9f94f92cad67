// Runs inside the page: comparisons of rendered examples.

export interface Example {
  markdown: string;
  html: string;
  example: number;
}

/** True for examples with raw HTML, which is text here and cannot be compared. */
export function hasRawHtml({ markdown }: Example): boolean {
  return /<(?!\/?[a-z][\w+.-]{1,31}:[^\s<>]*>|[^\s<>@]+@[^\s<>]+>)[a-z!?/]/i.test(markdown);
}

/** Streams each example by characters and in seeded random pieces; returns those whose result differs from the whole. */
export function findSplitDifferences(examples: Example[]): { example: number; how: string; whole: string; cut: string }[] {
  const { htmlOfPieces, htmlOfWhole, htmlWithoutStreaming } = window.harness;
  let state = 1;
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const randomPieces = (text: string): string[] => {
    const pieces: string[] = [];
    for (let at = 0; at < text.length; ) {
      const size = 1 + Math.floor(random() * 12);
      pieces.push(text.slice(at, at + size));
      at += size;
    }
    return pieces;
  };
  return examples.flatMap(({ example, markdown }) => {
    const expected = htmlWithoutStreaming(markdown);
    const ways = {
      whole: htmlOfWhole(markdown),
      characters: htmlOfPieces(markdown.split("")),
      pieces: htmlOfPieces(randomPieces(markdown)),
      others: htmlOfPieces(randomPieces(markdown)),
    };
    const wrong = Object.entries(ways).find(([, html]) => html !== expected);
    return wrong === undefined ? [] : [{ example, how: wrong[0], whole: expected, cut: wrong[1] }];
  });
}

/** Examples that show a letter or digit on the way that is not in the final text. */
export function findStrayLetters(examples: Example[]): { example: number; prefix: string; stray: string }[] {
  const lettersOf = (text: string): string[] => text.match(/[\p{L}\p{N}]/gu) ?? [];
  const missing = (shown: string, whole: string): string => {
    const left = new Map<string, number>();
    for (const letter of lettersOf(whole)) left.set(letter, (left.get(letter) ?? 0) + 1);
    return lettersOf(shown).filter((letter) => {
      const count = left.get(letter) ?? 0;
      left.set(letter, count - 1);
      return count <= 0;
    }).join("");
  };
  return examples.flatMap(({ example, markdown }) => {
    const { host, stream } = window.harness.openUnthrottled();
    const seen: { prefix: string; text: string }[] = [];
    for (let at = 0; at < markdown.length; at++) {
      stream.append(markdown.charAt(at));
      seen.push({ prefix: markdown.slice(0, at + 1), text: host.textContent ?? "" });
    }
    stream.finish();
    const whole = host.textContent ?? "";
    stream.dispose();
    host.remove();
    const first = seen.find(({ text }) => missing(text, whole) !== "");
    return first === undefined ? [] : [{ example, prefix: first.prefix, stray: missing(first.text, whole) }];
  });
}

/** Examples whose elements differ from the specification, after applying our link policy to both. One
 * function, over 60 lines, because it is serialised and runs inside the page. */
export function findSpecDifferences(examples: Example[]): { example: number; ours: string; theirs: string }[] {
  const BLOCKS = "p|h[1-6]|ul|ol|li|blockquote|pre|table|thead|tbody|tr|th|td|hr|br";
  const host = document.createElement("template");

  const link = (element: Element): void => {
    const href = element.getAttribute("href") ?? "";
    const isLink = /^(?:https?:\/\/|mailto:)/i.test(href) && URL.canParse(href);
    if (!isLink) return element.replaceWith(...element.childNodes);
    const plain = document.createElement("a");
    plain.setAttribute("href", new URL(href).href);
    plain.append(...element.childNodes);
    element.replaceWith(plain);
  };
  const image = (element: Element): void => {
    const src = element.getAttribute("src") ?? "";
    const alt = element.getAttribute("alt") ?? "";
    const isRemote = /^https?:\/\//i.test(src) && URL.canParse(src);
    element.replaceWith(isRemote ? `[image ${new URL(src).href} ${alt}]` : alt);
  };
  const picture = (element: Element): void => {
    const { src, alt } = (element.firstElementChild as HTMLElement).dataset;
    element.replaceWith(`[image ${src} ${alt}]`);
  };
  const code = (figure: Element): void => {
    const language = figure.querySelector("figcaption span")?.textContent ?? "";
    const inner = figure.querySelector("code") as Element;
    if (language !== "") inner.setAttribute("class", `language-${language}`);
    const pre = document.createElement("pre");
    pre.append(inner);
    figure.replaceWith(pre);
  };
  const checkbox = (element: Element): void => {
    const plain = document.createElement("input");
    for (const name of ["type", "checked", "disabled"]) if (element.hasAttribute(name)) plain.setAttribute(name, element.getAttribute(name) ?? "");
    element.replaceWith(plain);
  };
  const task = (element: Element): void => {
    element.removeAttribute("class");
    const label = element.querySelector("label");
    label?.replaceWith(...label.childNodes);
  };
  const canonical = (html: string): string => {
    host.innerHTML = html;
    const root = host.content;
    root.querySelectorAll(".md-task").forEach(task);
    root.querySelectorAll("input").forEach(checkbox);
    root.querySelectorAll(".md-host").forEach((element) => {
      const before = element.previousSibling;
      if (before instanceof Text) before.data = before.data.replace(/ $/, "");
      element.remove();
    });
    root.querySelectorAll(".md-part, .md-table").forEach((element) => element.replaceWith(...element.childNodes));
    root.querySelectorAll("figure.md-code").forEach(code);
    root.querySelectorAll(".md-remote-image").forEach(picture);
    root.querySelectorAll("img").forEach(image);
    root.querySelectorAll("a").forEach(link);
    root.querySelectorAll("[dir]").forEach((element) => element.removeAttribute("dir"));
    root.querySelectorAll("s").forEach((element) => {
      const del = document.createElement("del");
      del.append(...element.childNodes);
      element.replaceWith(del);
    });
    const pres = [...root.querySelectorAll("pre")].map((pre) => pre.outerHTML);
    root.querySelectorAll("pre").forEach((pre, index) => pre.replaceWith(document.createElement("pre"), `#${index}#`));
    const text = host.innerHTML
      .replace(/\s+/g, " ")
      .replace(new RegExp(` ?(</?(?:${BLOCKS})(?: [^>]*)?>) ?`, "g"), "$1")
      .trim();
    return text.replace(/<pre><\/pre> ?#(\d+)#\s?/g, (_, index: string) => pres[Number(index)] ?? "");
  };

  return examples.flatMap(({ example, markdown, html }) => {
    const ours = canonical(window.harness.htmlWithoutStreaming(markdown));
    const theirs = canonical(html);
    return ours === theirs ? [] : [{ example, ours, theirs }];
  });
}
