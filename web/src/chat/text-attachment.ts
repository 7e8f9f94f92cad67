// Text files attached to a message: inserted as a fenced block.

const BYTES_MAX = 256 * 1024;

/** The file as a code block whose fence its content cannot close; undefined if it is not text or too large. */
export async function fileAsFencedText(file: File): Promise<string | undefined> {
  if (BYTES_MAX < file.size) return undefined;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return undefined;
  }
  if (text.includes("\0")) return undefined;
  const longestRun = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longestRun + 1);
  return `${file.name.replace(/[`\n\r]/g, "_")}\n${fence}\n${text.replace(/\n$/, "")}\n${fence}\n`;
}
