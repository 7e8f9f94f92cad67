// Applies the link and image policy to parsed text, before anything is rendered.
// Invariant: after this rule every visible link is safe, says where it goes, and no image holds another's address.

import type { MarkdownIt, RendererRule, StateCore, Token } from "markdown-it";
import { pictureOf } from "./images.ts";
import { escapeDeceiving, hostToReveal, safeUrl } from "./links.ts";
import { wordsOf } from "./setting.ts";

export function linksAndImages(md: MarkdownIt): void {
  // Every destination parses, so that one the policy refuses becomes its plain text and not raw brackets.
  md.validateLink = () => true;
  const readable = md.normalizeLinkText.bind(md);
  md.normalizeLinkText = (url) => escapeDeceiving(readable(url));
  linkOnlyFullAddresses(md);
  md.core.ruler.push("link_policy", (state) => {
    for (const token of state.tokens) if (token.type === "inline") applyToLinks(state, token);
  });
  const escape = md.utils.escapeHtml;
  md.renderer.rules["link_host"] = (tokens, index) =>
    ` <span class="md-host" dir="ltr">${escape(tokens[index]?.content ?? "")}</span>`;
  md.renderer.rules["image"] = imageRule(escape);
}

/** `README.md` and `main.rs` are no hosts; `www.` and full addresses are. */
function linkOnlyFullAddresses(md: MarkdownIt): void {
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

function applyToLinks(state: StateCore, inline: Token): void {
  const children = inline.children ?? [];
  if (!children.some(({ type }) => type === "link_open" || type === "image")) return;
  const kept: Token[] = [];
  let link: { url: URL | null; text: string } | null = null;
  children.forEach((token, index) => {
    if (token.type === "link_open") {
      const isCut = inline.meta?.["open"] === true && token.info === "auto" && isLastWord(children, index);
      link = { url: isCut ? null : safeUrl(String(token.attrGet("href"))), text: "" };
      openLink(token, link.url);
    } else if (token.type === "link_close") {
      const host = link?.url ? hostToReveal(link.text, link.url) : null;
      if (host !== null) kept.push(hostToken(state, host));
      token.hidden = link?.url === null;
      link = null;
    } else if (link !== null) {
      link.text += token.content;
      if (token.type === "image") token.meta = { ...token.meta, linked: true };
    }
    kept.push(token);
  });
  inline.children = kept;
}

/** Whether an address may still grow: nothing but the rest of its word follows. */
function isLastWord(children: Token[], linkOpen: number): boolean {
  return children.slice(linkOpen + 3).every(({ type, content }) => type === "text" && !/\s/.test(content));
}

function openLink(token: Token, url: URL | null): void {
  token.hidden = url === null;
  if (url === null) return;
  token.attrs = [
    ["href", url.href],
    ["rel", "noopener noreferrer nofollow"],
    ["target", "_blank"],
    ["data-to", escapeDeceiving(url.href)],
  ];
}

function hostToken(state: StateCore, host: string): Token {
  const token = new state.Token("link_host", "", 0);
  token.content = host;
  return token;
}

function imageRule(escape: (text: string) => string): RendererRule {
  return (tokens, index, options, env, renderer) => {
    const token = tokens[index] as Token;
    const alt = renderer.renderInlineAsText(token.children ?? [], options, env);
    const picture = pictureOf(String(token.attrGet("src")));
    const words = wordsOf(env);
    if (picture.kind === "words") return escape(alt);
    if (words === null) return exportedPicture(picture, alt, token.meta?.["linked"] === true, escape);
    if (picture.kind === "own") {
      return `<span class="md-own"><img loading="lazy" decoding="async" src="${escape(picture.path)}" alt="${escape(alt)}"></span>`;
    }
    const label = escape(words.showImage(picture.url.host));
    const caption = alt === "" ? "" : ` <span>${escape(alt)}</span>`;
    return (
      `<span class="md-picture"><button type="button" class="md-image" data-src="${escape(picture.url.href)}"` +
      ` data-alt="${escape(alt)}">${label}${caption}</button></span>`
    );
  };
}

type Shown = Exclude<ReturnType<typeof pictureOf>, { kind: "words" }>;

function exportedPicture(picture: Shown, alt: string, isLinked: boolean, escape: (text: string) => string): string {
  if (picture.kind === "own" || isLinked) return escape(alt);
  const { href } = picture.url;
  const text = alt === "" ? href : alt;
  return `<a href="${escape(href)}" rel="noopener noreferrer nofollow" target="_blank" data-to="${escape(href)}">${escape(text)}</a>`;
}
