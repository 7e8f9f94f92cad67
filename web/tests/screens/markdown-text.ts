// Letters and digits that a Markdown text shows, found without any Markdown parser of the project.

/** Removes everything but letters and digits: layout, markers and punctuation may differ between screens. */
export function lettersOf(text: string): string {
  return text.normalize("NFC").replace(/[^\p{L}\p{N}]+/gu, "");
}

/** Text that a reader of the Markdown sees, without its layout. */
export function markdownText(markdown: string): string {
  let fence: string | undefined;
  const lines = markdown.split("\n").map((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
    if (mark && fence === undefined && !(mark[1]?.startsWith("`") && mark[2]?.includes("`"))) {
      fence = mark[1] ?? "";
      // The language is shown as a label of the block.
      return (mark[2] ?? "").trim().split(/\s+/)[0] ?? "";
    }
    if (fence !== undefined) {
      const ends = mark && (mark[1] ?? "").startsWith(fence) && !(mark[2] ?? "").trim();
      if (ends) fence = undefined;
      return ends ? "" : line;
    }
    return inlineText(line.replace(/^(\s*>)+/, "").replace(/^\s*(\d{1,9}[.)]|[-*+])\s+/, ""));
  });
  return lines.join("\n");
}

/** Keeps the text of links and images, drops where they lead. */
function inlineText(line: string): string {
  return line
    .split(/(`+[^`]*`+)/)
    .map((part) => (part.startsWith("`") ? part : part.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")))
    .join("");
}
