// Syntax highlighting. Loaded on demand, with highlight.js and the most common languages.
// Invariant: builds elements from the highlighter's spans; its markup is never given to the browser.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import powershell from "highlight.js/lib/languages/powershell";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = {
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, lua, makefile, markdown, php,
  powershell, python, ruby, rust, sql, swift, typescript, xml, yaml,
};

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

const PIECE = /<span class="([\w -]+)">|<\/span>|[^<]+/g;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** Highlighted code; null if the language is not supported. */
export function highlight(code: string, language: string): DocumentFragment | null {
  if (hljs.getLanguage(language) === undefined) return null;
  return buildSpans(hljs.highlight(code, { language, ignoreIllegals: true }).value);
}

function buildSpans(markup: string): DocumentFragment {
  const root = document.createDocumentFragment();
  const open: Element[] = [];
  for (const [piece, name] of markup.matchAll(PIECE)) {
    const parent = open.at(-1) ?? root;
    if (name !== undefined) {
      const span = document.createElement("span");
      span.className = name;
      parent.append(span);
      open.push(span);
    } else if (piece === "</span>") open.pop();
    else parent.append(decodeEntities(piece));
  }
  return root;
}

function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => ENTITIES[name] ?? "");
}
