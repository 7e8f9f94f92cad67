import { expect, test } from "vitest";
import { SseParser } from "../src/index.ts";

const STREAM =
  ": head 7\r\n\r\nid:a\ndata:\"ż🐢\"\n\nevent:snapshot\rid: b\rdata: {\rdata: }\r\rdata\n\nretry:9\nid:c\n\nevent:x\ndata:last\n\nevent:cut\ndata:off";

const EXPECTED = [
  "# head 7",
  'a||"ż🐢"',
  "b|snapshot|{\n}",
  "undefined||",
  "undefined|x|last",
];

function parseChunks(chunks: Uint8Array[]): string[] {
  const parsed: string[] = [];
  const parser = new SseParser({
    event: ({ id, event, data }) => parsed.push(`${id}|${event}|${data}`),
    comment: (text) => parsed.push(`# ${text}`),
  });
  for (const chunk of chunks) parser.push(chunk);
  return parsed;
}

test("chunk boundaries do not affect the events", () => {
  const bytes = new TextEncoder().encode(STREAM);
  expect(parseChunks([bytes])).toEqual(EXPECTED);
  expect(parseChunks([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(EXPECTED);
  for (let one = 0; one <= bytes.length; one++) {
    for (let two = one; two <= bytes.length; two++) {
      expect(parseChunks([bytes.slice(0, one), bytes.slice(one, two), bytes.slice(two)])).toEqual(EXPECTED);
    }
  }
});
