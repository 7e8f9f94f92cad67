// Applies the link and image policy to parsed text, before rendering.
// Invariant: afterwards every link is safe and shows its destination if its text misleads; no image has a remote source.

import type { MarkdownIt, RendererRule, StateCore, Token } from "markdown-it";
import { classifyImage } from "./images.ts";
import { escapeDeceptive, misleadingLinkHost, parseSafeUrl } from "./links.ts";
import { stringsOf } from "./parse-env.ts";

/** markdown-it plugin. */
export function linkPolicyPlugin(md: MarkdownIt): void {
  // All destinations parse, so that a refused link becomes its text and not raw brackets.
  md.validateLink = () => true;
  const normalise = md.normalizeLinkText.bind(md);
  md.normalizeLinkText = (url) => escapeDeceptive(normalise(url));
  configureLinkify(md);
  md.core.ruler.push("link_policy", (state) => {
    for (const token of state.tokens) if (token.type === "inline") applyLinkPolicy(state, token);
  });
  const escape = md.utils.escapeHtml;
  md.renderer.rules["link_host"] = (tokens, index) =>
    ` <span class="md-host" dir="ltr">${escape(tokens[index]?.content ?? "")}</span>`;
  md.renderer.rules["image"] = imageRenderRule(escape);
}

/** Links full URLs and `www.` names only: `README.md` and `main.rs` are not hosts. */
function configureLinkify(md: MarkdownIt): void {
  md.linkify.set({ fuzzyLink: false, fuzzyEmail: true });
  md.linkify.add("//", null).add("ftp:", null);
  md.linkify.add("www.", {
    validate: (text, at, self) => {
      const rest = self.re.get_relative_proto_validator();
      rest.lastIndex = at;
      return rest.exec(text)?.[0].length ?? 0;
    },
    normalize: (match) => {
      match.url = `http://${match.url}`;
    },
  });
}

function applyLinkPolicy(state: StateCore, inline: Token): void {
  const children = inline.children ?? [];
  if (!children.some(({ type }) => type === "link_open" || type === "image")) return;
  const visibleTokens: Token[] = [];
  let link: { url: URL | null; text: string } | null = null;
  children.forEach((token, index) => {
    if (token.type === "link_open") {
      const isCut = inline.meta?.["open"] === true && token.info === "auto" && mayStillGrow(children, index);
      link = { url: isCut ? null : parseSafeUrl(String(token.attrGet("href"))), text: "" };
      setLinkAttributes(token, link.url);
    } else if (token.type === "link_close") {
      const host = link?.url ? misleadingLinkHost(link.text, link.url) : null;
      if (host !== null) visibleTokens.push(createHostToken(state, host));
      token.hidden = link?.url === null;
      link = null;
    } else if (link !== null) {
      link.text += token.content;
      if (token.type === "image") token.meta = { ...token.meta, linked: true };
    }
    visibleTokens.push(token);
  });
  inline.children = visibleTokens;
}

/** True if the URL may still grow: only the rest of its word follows. */
function mayStillGrow(children: Token[], linkOpen: number): boolean {
  return children.slice(linkOpen + 3).every(({ type, content }) => type === "text" && !/\s/.test(content));
}

function setLinkAttributes(token: Token, url: URL | null): void {
  token.hidden = url === null;
  if (url === null) return;
  token.attrs = [
    ["href", url.href],
    ["rel", "noopener noreferrer nofollow"],
    ["target", "_blank"],
    ["data-to", escapeDeceptive(url.href)],
  ];
}

function createHostToken(state: StateCore, host: string): Token {
  const token = new state.Token("link_host", "", 0);
  token.content = host;
  return token;
}

function imageRenderRule(escape: (text: string) => string): RendererRule {
  return (tokens, index, options, env, renderer) => {
    const token = tokens[index] as Token;
    const alt = renderer.renderInlineAsText(token.children ?? [], options, env);
    const image = classifyImage(String(token.attrGet("src")));
    const strings = stringsOf(env);
    if (image.kind === "alt-text") return escape(alt);
    if (strings === null) return exportedImage(image, alt, token.meta?.["linked"] === true, escape);
    if (image.kind === "session") {
      return `<span class="md-session-image"><img loading="lazy" decoding="async" src="${escape(image.path)}" alt="${escape(alt)}"></span>`;
    }
    const label = escape(strings.showImage(image.url.host));
    const caption = alt === "" ? "" : ` <span>${escape(alt)}</span>`;
    return (
      `<span class="md-remote-image"><button type="button" class="md-show-image" data-src="${escape(image.url.href)}"` +
      ` data-alt="${escape(alt)}">${label}${caption}</button></span>`
    );
  };
}

type ShownImage = Exclude<ReturnType<typeof classifyImage>, { kind: "alt-text" }>;

/** Exported pages have no buttons: a remote image becomes a link, others their alt text. */
function exportedImage(image: ShownImage, alt: string, isLinked: boolean, escape: (text: string) => string): string {
  if (image.kind === "session" || isLinked) return escape(alt);
  const { href } = image.url;
  const text = alt === "" ? href : alt;
  return `<a href="${escape(href)}" rel="noopener noreferrer nofollow" target="_blank" data-to="${escape(href)}">${escape(text)}</a>`;
}
