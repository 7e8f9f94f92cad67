// A file as part of a message: text, in a fence that nothing in it can close.

const BYTES_MAX = 256 * 1024;

/** Nothing if the file is no text, or too long to be read by anybody. */
export async function attachedText(file: File): Promise<string | undefined> {
  if (BYTES_MAX < file.size) return undefined;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return undefined;
  }
  if (text.includes("\0")) return undefined;
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${file.name.replace(/[`\n\r]/g, "_")}\n${fence}\n${text.replace(/\n$/, "")}\n${fence}\n`;
}
