// Text lengths: the gateway counts UTF-8 bytes, JavaScript counts UTF-16 code units.

/** Length in UTF-16 code units of the first `bytes` UTF-8 bytes of `text`; a character cut by the limit is excluded. */
export function utf16LengthOfUtf8Prefix(text: string, bytes: number): number {
  let bytesLeft = bytes;
  let index = 0;
  while (index < text.length) {
    const code = text.codePointAt(index) ?? 0;
    bytesLeft -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytesLeft < 0) break;
    index += code < 0x10000 ? 1 : 2;
  }
  return index;
}
