import { expect, test } from "vitest";
import { EventParser } from "../src/index.ts";

const STREAM =
  ": head 7\r\n\r\nid:a\ndata:\"ż🐢\"\n\nevent:snapshot\rid: b\rdata: {\rdata: }\r\rdata\n\nretry:9\nid:c\n\nevent:x\ndata:last\n\nevent:cut\ndata:off";

const MEANS = [
  "# head 7",
  'a||"ż🐢"',
  "b|snapshot|{\n}",
  "undefined||",
  "undefined|x|last",
];

function heard(pieces: Uint8Array[]): string[] {
  const heard: string[] = [];
  const parser = new EventParser({
    event: ({ id, event, data }) => heard.push(`${id}|${event}|${data}`),
    comment: (text) => heard.push(`# ${text}`),
  });
  for (const piece of pieces) parser.push(piece);
  return heard;
}

test("however the bytes are cut, the events are the same", () => {
  const bytes = new TextEncoder().encode(STREAM);
  expect(heard([bytes])).toEqual(MEANS);
  expect(heard([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(MEANS);
  for (let one = 0; one <= bytes.length; one++) {
    for (let two = one; two <= bytes.length; two++) {
      expect(heard([bytes.slice(0, one), bytes.slice(one, two), bytes.slice(two)])).toEqual(MEANS);
    }
  }
});
