// The gateway counts a text in bytes of UTF-8; JavaScript counts it in units of UTF-16.

/** How many units of a text its first `bytes` bytes are; a character that is cut does not count. */
export function unitsOfBytes(text: string, bytes: number): number {
  let left = bytes;
  let unit = 0;
  while (unit < text.length) {
    const code = text.codePointAt(unit) ?? 0;
    left -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (left < 0) break;
    unit += code < 0x10000 ? 1 : 2;
  }
  return unit;
}
