import type { Session } from "@millpond/client";
import { expect, test } from "vitest";
import { en } from "../i18n/en.ts";
import { Notifier, type NotificationContent } from "./notifier.ts";

function notificationsFor(updates: Partial<Session>[], enabled = true): string[] {
  const shown: NotificationContent[] = [];
  const notifier = new Notifier(() => enabled, () => en, (content) => shown.push(content));
  for (const session of updates) notifier.notifyOfChange({ id: "S", title: "Pond", run: null, head: 3, ...session } as Session);
  return shown.map(({ body }) => body);
}

test("an ended run and an ask notify once each, also when updates were missed", () => {
  expect(notificationsFor([{ run: "a" }, { run: null }, { run: null }])).toEqual([en.runEndedNotification]);
  expect(notificationsFor([{ run: "a" }, { run: "a", asks: 1 }, { run: "a", asks: 1 }])).toEqual([en.askNotification]);
  expect(notificationsFor([{ run: "a" }, { run: "b" }]), "the next run has already begun").toEqual([en.runEndedNotification]);
});

test("a run that began and ended between two updates notifies; other changes do not", () => {
  expect(notificationsFor([{ head: 3 }, { head: 9 }, { head: 9, title: "Weir" }])).toEqual([en.runEndedNotification]);
  expect(notificationsFor([{ head: 3 }, { head: 4, run: "a" }])).toEqual([]);
});

test("the initial state does not notify, nor anything while disabled", () => {
  expect(notificationsFor([{ run: null }])).toEqual([]);
  expect(notificationsFor([{ run: "a", asks: 1 }])).toEqual([]);
  expect(notificationsFor([{ run: "a" }, { run: null }], false)).toEqual([]);
});

test("outdated updates and deleted sessions do not notify", () => {
  expect(notificationsFor([{ run: "a", head: 3 }, { run: null, head: 9 }, { run: "a", head: 3 }, { run: null, head: 9 }])).toEqual([en.runEndedNotification]);
  expect(notificationsFor([{ run: "a" }, { run: null, deleted_ms: 1 }])).toEqual([]);
});
