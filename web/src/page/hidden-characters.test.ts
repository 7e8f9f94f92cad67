import { expect, test } from "vitest";
import { hasHiddenCharacters, escapeHiddenCharacters } from "./hidden-characters.ts";

test("invisible and bidirectional characters are escaped, and nothing else changes", () => {
  for (const code of [0x00, 0x1b, 0x7f, 0xa0, 0xad, 0x1680, 0x2003, 0x3000, 0x200b, 0x200e, 0x202e, 0x2066, 0x2069, 0xfeff, 0xfe0f, 0x3164, 0xe0041]) {
    const hidden = `rm ${String.fromCodePoint(code)}-rf`;
    expect(escapeHiddenCharacters(hidden)).toBe(`rm \\u{${code.toString(16)}}-rf`);
    expect(hasHiddenCharacters(hidden)).toBe(true);
  }
  for (const text of ["echo $((6*7))\n\tzażółć gęślą jaźń", "東京 🐢 العربية", ""]) {
    expect(escapeHiddenCharacters(text)).toBe(text);
    expect(hasHiddenCharacters(text)).toBe(false);
  }
});
