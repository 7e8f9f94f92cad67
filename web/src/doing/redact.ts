// Blacks out what looks like a secret before a page leaves as a file. The shapes are those that
// `millpond show --record` knows; in JSON also values that were cut off, however deep.

const REDACTED = "[redacted]";

const SHAPES = new RegExp(
  [
    String.raw`\bsk-(?:[A-Za-z]+-)*[A-Za-z0-9_]{16,}[A-Za-z0-9_-]*`,
    String.raw`\bAIza[A-Za-z0-9_-]{30,}`,
    String.raw`\bgh[pousr]_[A-Za-z0-9]{20,}`,
    String.raw`\bgithub_pat_[A-Za-z0-9_]{20,}`,
    String.raw`\bglpat-[A-Za-z0-9_-]{16,}`,
    String.raw`\bxox[abeprs]-[A-Za-z0-9-]{10,}`,
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    String.raw`\bhf_[A-Za-z0-9]{20,}`,
    String.raw`\bnpm_[A-Za-z0-9]{30,}`,
    String.raw`\bgsk_[A-Za-z0-9]{20,}`,
    String.raw`\bxai-[A-Za-z0-9]{20,}`,
    String.raw`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}`,
    String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=:, \n\r\\]+`,
  ].join("|"),
  "g",
);

/** A name that says so, then a secret; only the secret goes. */
const NAMED = [
  /(authorization\S{0,4}\s{0,4}(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=-]{4,}/gi,
  /(\bbearer\s+)[A-Za-z0-9._~+/-]*[0-9._~+/=][A-Za-z0-9._~+/=-]{8,}/gi,
  /([?&](?:key|api_key|token|access_token|sig|signature)=)[^&\s"\\]+/gi,
  /(\b[A-Z0-9_-]*(?:api[_-]?key|token|secret|password)=)[^&\s"'\\]{6,}/gi,
  /(:\/\/[^/\s:@"]+:)[^/\s:@"]+(?=@)/g,
];

/** A member of JSON whose name says so, up to the quote before its value. JSON inside JSON has backslashes before its quotes. */
const MEMBER =
  /(\\*)"(?:api[_-]?key|x-api-key|access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|client[_-]?secret|secret|password|passwd|authorization|private[_-]?key)\1"\s*:\s*\1"/gi;

export function redacted(text: string): string {
  return NAMED.reduce((text, named) => text.replace(named, `$1${REDACTED}`), withoutMembers(text.replace(SHAPES, REDACTED)));
}

function withoutMembers(text: string): string {
  let kept = "";
  let from = 0;
  for (const { 0: member, 1: escapes = "", index } of text.matchAll(MEMBER)) {
    const start = index + member.length;
    if (start < from) continue;
    kept += text.slice(from, start) + REDACTED;
    from = endOfValue(text, start, escapes.length);
  }
  return kept + text.slice(from);
}

/** Where a text in JSON ends that begins at `start` after a quote with so many backslashes; one that was cut off ends with its line. */
function endOfValue(text: string, start: number, escapes: number): number {
  for (let at = start; at < text.length; at++) {
    if (text[at] === "\n") return at;
    if (text[at] !== '"') continue;
    let run = 0;
    while (start < at - run && text[at - run - 1] === "\\") run++;
    // Between the quotes that end it, each level of JSON doubles the backslashes.
    if (run % (2 * (escapes + 1)) === escapes) return at - escapes;
  }
  return text.length;
}

/** Longer than any secret. */
const SECRET_CHARS_MAX = 16 * 1024;

/** A text in pieces, cut where lines end and no secret lies across; one may in the pieces that it comes in. */
export function* redactedAll(pieces: Iterable<string>): Generator<string> {
  let held = "";
  let enough = 2 * SECRET_CHARS_MAX;
  for (const piece of pieces) {
    held += piece;
    if (held.length < enough) continue;
    // What begins after the cut may go on in what follows.
    const cut = held.lastIndexOf("\n", held.length - SECRET_CHARS_MAX) + 1;
    const [before, after] = [held.slice(0, cut), held.slice(cut)];
    const made = redacted(before);
    if (made + redacted(after) === redacted(held)) {
      yield made;
      held = after;
    }
    enough = held.length + SECRET_CHARS_MAX;
  }
  yield redacted(held);
}
