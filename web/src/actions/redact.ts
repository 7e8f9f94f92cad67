// Replaces secrets in exported text. Uses the patterns of `millpond show --record`; in JSON it also finds
// truncated values and JSON nested in strings.

const REDACTED = "[redacted]";

const SECRET_SHAPES = new RegExp(
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

/** A name such as `token=` followed by a secret; only the secret is replaced. */
const NAMED_SECRETS = [
  /(authorization\S{0,4}\s{0,4}(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=-]{4,}/gi,
  /(\bbearer\s+)[A-Za-z0-9._~+/-]*[0-9._~+/=][A-Za-z0-9._~+/=-]{8,}/gi,
  /([?&](?:key|api_key|token|access_token|sig|signature)=)[^&\s"\\]+/gi,
  /(\b[A-Z0-9_-]*(?:api[_-]?key|token|secret|password)=)[^&\s"'\\]{6,}/gi,
  /(:\/\/[^/\s:@"]+:)[^/\s:@"]+(?=@)/g,
];

/** A JSON member with a name such as "password", up to the opening quote of its value. In nested JSON the quotes are escaped. */
const SECRET_JSON_MEMBER =
  /(\\*)"(?:api[_-]?key|x-api-key|access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|client[_-]?secret|secret|password|passwd|authorization|private[_-]?key)\1"\s*:\s*\1"/gi;

/** The text with all secrets replaced by `[redacted]`. */
export function redactSecrets(text: string): string {
  return NAMED_SECRETS.reduce((text, pattern) => text.replace(pattern, `$1${REDACTED}`), redactJsonMembers(text.replace(SECRET_SHAPES, REDACTED)));
}

function redactJsonMembers(text: string): string {
  let result = "";
  let end = 0;
  for (const { 0: member, 1: escapes = "", index } of text.matchAll(SECRET_JSON_MEMBER)) {
    const start = index + member.length;
    if (start < end) continue;
    result += text.slice(end, start) + REDACTED;
    end = jsonStringEnd(text, start, escapes.length);
  }
  return result + text.slice(end);
}

/** End of the JSON string that begins at `start`, where quotes are preceded by `escapes` backslashes; a truncated string ends with its line. */
function jsonStringEnd(text: string, start: number, escapes: number): number {
  for (let at = start; at < text.length; at++) {
    if (text[at] === "\n") return at;
    if (text[at] !== '"') continue;
    let run = 0;
    while (start < at - run && text[at - run - 1] === "\\") run++;
    // Each level of nesting doubles the backslashes of quotes inside the string.
    if (run % (2 * (escapes + 1)) === escapes) return at - escapes;
  }
  return text.length;
}

/** Upper limit of the length of a secret. */
const SECRET_CHARS_MAX = 16 * 1024;

/** Redacts a text that arrives in pieces; a secret may span pieces. Yields at line ends that no secret spans. */
export function* redactPieces(pieces: Iterable<string>): Generator<string> {
  let buffer = "";
  let flushAt = 2 * SECRET_CHARS_MAX;
  for (const piece of pieces) {
    buffer += piece;
    if (buffer.length < flushAt) continue;
    // A secret that begins after the cut may continue in the next piece.
    const cut = buffer.lastIndexOf("\n", buffer.length - SECRET_CHARS_MAX) + 1;
    const [before, after] = [buffer.slice(0, cut), buffer.slice(cut)];
    const redacted = redactSecrets(before);
    if (redacted + redactSecrets(after) === redactSecrets(buffer)) {
      yield redacted;
      buffer = after;
    }
    flushAt = buffer.length + SECRET_CHARS_MAX;
  }
  yield redactSecrets(buffer);
}
