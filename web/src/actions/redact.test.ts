import { expect, test } from "vitest";
import { redactSecrets, redactPieces } from "./redact.ts";

test("secrets are replaced, other text is unchanged, and a second pass changes nothing", () => {
  const cases: [string, string][] = [
    ["use sk-abcdefghijklmnop1234 now", "use [redacted] now"],
    ["Authorization: Bearer abc.def-ghi", "Authorization: Bearer [redacted]"],
    ['{"api_key":"hunter2","n":1}', '{"api_key":"[redacted]","n":1}'],
    ['{"api_key":"hunter2', '{"api_key":"[redacted]'],
    ['{"password":"a\\\\"}', '{"password":"[redacted]"}'],
    ['{"password":"a\\"b","c":1}', '{"password":"[redacted]","c":1}'],
    ["https://x.example/?key=AbC123&y=1", "https://x.example/?key=[redacted]&y=1"],
    ["postgres://me:secret@host/db", "postgres://me:[redacted]@host/db"],
    ["ghp_abcdefghijklmnopqrst12", "[redacted]"],
    ["DB_PASSWORD=hunter2x and MY_TOKEN=abcdefgh", "DB_PASSWORD=[redacted] and MY_TOKEN=[redacted]"],
    ["plain text, a task-list and a risk-free offer", "plain text, a task-list and a risk-free offer"],
    ["A basic understanding of the bearer certificates.", "A basic understanding of the bearer certificates."],
  ];
  for (const [text, expected] of cases) {
    expect(redactSecrets(text)).toBe(expected);
    expect(redactSecrets(expected)).toBe(expected);
  }
});

test("a text in pieces is redacted like the whole text", () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${"MIIabc123+/\n".repeat(300)}-----END PRIVATE KEY-----\n`;
  const text = `${"A line of a long day, with a task-list. 🏞️\n".repeat(900)}${key}Authorization: Bearer\nabc.def-ghi\n`.repeat(3);
  const expected = redactSecrets(text);
  for (const size of [7, 1000, 40_000, text.length]) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
    const redacted = [...redactPieces(pieces)];
    expect(redacted.join(""), `${size}`).toBe(expected);
    expect(redacted.slice(0, -1).every((piece) => piece.endsWith("\n") || !piece)).toBe(true);
  }
  expect(expected).not.toMatch(/MIIabc|abc\.def/);
});

test("secrets in nested JSON are replaced, also with quotes inside and when truncated", () => {
  for (const secret of ["hunter2", 'hun"ter2', "hunter2\\\\", 'h\\"unter2"']) {
    let text = JSON.stringify({ a: 1, api_key: secret, z: "stays" });
    for (let depth = 0; depth < 4; depth++) {
      const redacted = redactSecrets(text);
      expect(redacted, text).not.toMatch(/unter2|hun/);
      expect(redacted).toContain("stays");
      const truncated = redactSecrets(text.slice(0, text.indexOf("ter2") + 4));
      expect(truncated, text).not.toMatch(/ter2/);
      text = JSON.stringify({ body: text });
    }
  }
});
