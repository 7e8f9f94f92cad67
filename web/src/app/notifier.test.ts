import type { EndedRun, Session } from "@millpond/client";
import { expect, test } from "vitest";
import { en } from "../i18n/en.ts";
import { Notifier, type NotificationContent, type RunsOnPage } from "./notifier.ts";

type Items = NonNullable<RunsOnPage["page"]["items"]>;

/** A page on which every run is known, as a person's runs are. */
const KNOWN: RunsOnPage = { run: null, page: { ended: { run: "a" } as EndedRun, items: { 0: { run: "a" }, 1: { run: "b" } } as unknown as Items } };

async function notificationsFor(updates: Partial<Session>[], { enabled = true, page = KNOWN as RunsOnPage | Error } = {}): Promise<string[]> {
  const shown: NotificationContent[] = [];
  const fetchPage = () => (page instanceof Error ? Promise.reject(page) : Promise.resolve(page));
  const notifier = new Notifier(() => enabled, () => en, fetchPage, (content) => shown.push(content));
  for (const session of updates) notifier.notifyOfChange({ id: "S", title: "Pond", run: null, head: 3, ...session } as Session);
  await new Promise((settled) => setImmediate(settled));
  return shown.map(({ body }) => body);
}

test("an ended run and an ask notify once each, also when updates were missed", async () => {
  expect(await notificationsFor([{ run: "a" }, { run: null }, { run: null }])).toEqual([en.runEndedNotification]);
  expect(await notificationsFor([{ run: "a" }, { run: "a", asks: 1 }, { run: "a", asks: 1 }])).toEqual([en.askNotification]);
  expect(await notificationsFor([{ run: "a" }, { run: "b" }]), "the next run has already begun").toEqual([en.runEndedNotification]);
});

test("a run that began and ended between two updates notifies; other changes do not", async () => {
  expect(await notificationsFor([{ head: 3 }, { head: 9 }, { head: 9, title: "Weir" }])).toEqual([en.runEndedNotification]);
  expect(await notificationsFor([{ head: 3 }, { head: 4, run: "a" }])).toEqual([]);
});

test("the initial state does not notify, nor anything while disabled", async () => {
  expect(await notificationsFor([{ run: null }])).toEqual([]);
  expect(await notificationsFor([{ run: "a", asks: 1 }])).toEqual([]);
  expect(await notificationsFor([{ run: "a" }, { run: null }], { enabled: false })).toEqual([]);
});

test("outdated updates and deleted sessions do not notify", async () => {
  expect(await notificationsFor([{ run: "a", head: 3 }, { run: null, head: 9 }, { run: "a", head: 3 }, { run: null, head: 9 }])).toEqual([en.runEndedNotification]);
  expect(await notificationsFor([{ run: "a" }, { run: null, deleted_ms: 1 }])).toEqual([]);
});

test("a run that leaves nothing on a page, such as a silent heartbeat, does not notify", async () => {
  const others = { 0: { run: "person" } } as unknown as Items;
  const beats: Partial<Session>[][] = [[{ run: "beat" }, { run: null }], [{ head: 3 }, { head: 9 }]];
  for (const beat of beats) expect(await notificationsFor(beat, { page: { run: null, page: { items: others } } })).toEqual([]);
  const reported = { run: null, page: { ended: { run: "beat" } as EndedRun, items: others } };
  for (const beat of beats) expect(await notificationsFor(beat, { page: reported })).toEqual([en.runEndedNotification]);
  expect(await notificationsFor([{ run: "beat" }, { run: "next" }], { page: { run: "next", page: { items: others } } }), "the next run has begun").toEqual([]);
});

test("a page that cannot be read does not silence a notification", async () => {
  expect(await notificationsFor([{ run: "a" }, { run: null }], { page: new Error("offline") })).toEqual([en.runEndedNotification]);
});
