import type { Session } from "@millpond/client";
import { expect, test } from "vitest";
import { en } from "../words/en.ts";
import { Notifier, type Notice } from "./notifier.ts";

function told(heard: Partial<Session>[], wanted = true): string[] {
  const shown: Notice[] = [];
  const notifier = new Notifier(() => wanted, () => en, (notice) => shown.push(notice));
  for (const session of heard) notifier.hear({ id: "S", title: "Pond", run: null, head: 3, ...session } as Session);
  return shown.map(({ body }) => body);
}

test("an end and an ask are told, once each, also when the line broke in between", () => {
  expect(told([{ run: "a" }, { run: null }, { run: null }])).toEqual([en.notifyEnded]);
  expect(told([{ run: "a" }, { run: "a", asks: 1 }, { run: "a", asks: 1 }])).toEqual([en.notifyAsks]);
  expect(told([{ run: "a" }, { run: "b" }]), "the next began meanwhile").toEqual([en.notifyEnded]);
});

test("a run that began and ended between two tidings is told, and what else changes is not", () => {
  expect(told([{ head: 3 }, { head: 9 }, { head: 9, title: "Weir" }])).toEqual([en.notifyEnded]);
  expect(told([{ head: 3 }, { head: 4, run: "a" }])).toEqual([]);
});

test("what was so already, or is not wanted, is not told", () => {
  expect(told([{ run: null }])).toEqual([]);
  expect(told([{ run: "a", asks: 1 }])).toEqual([]);
  expect(told([{ run: "a" }, { run: null }], false)).toEqual([]);
});

test("what is older than what was heard, and what was deleted, is not told", () => {
  expect(told([{ run: "a", head: 3 }, { run: null, head: 9 }, { run: "a", head: 3 }, { run: null, head: 9 }])).toEqual([en.notifyEnded]);
  expect(told([{ run: "a" }, { run: null, deleted_ms: 1 }])).toEqual([]);
});
