// Local storage: preferences, drafts and the outbox. Only the outbox must not be lost: its messages are
// stored before they are sent. The keys (`millpond.letters`, …) are a stored format: do not rename them.

import { VIEWS, type OutboxStorage, type OutboxMessage, type View } from "@millpond/client";
import { Draft, type DraftStorage } from "../chat/draft.ts";

/** Number of sessions whose drafts are kept. */
const DRAFTS_MAX = 50;

function readItem<T>(name: string, fallback: T): T {
  try {
    const text = localStorage.getItem(`millpond.${name}`);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

function writeItem(name: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(`millpond.${name}`);
    else localStorage.setItem(`millpond.${name}`, JSON.stringify(value));
  } catch {
    // Storage is full or disabled. The app works without it.
  }
}

/** Outbox messages that storage did not accept, kept while the page is open. */
let memoryMessages: OutboxMessage[] | undefined;

export const outboxStorage: OutboxStorage = {
  read: () => memoryMessages ?? readStoredMessages(),
  write: (value) => {
    writeItem("letters", value);
    // All of them: a message whose rejection could not be stored would be sent again and again.
    memoryMessages = JSON.stringify(readItem<unknown>("letters", [])) === JSON.stringify(value) ? undefined : value;
  },
};

/** Reads stored messages; older versions stored `refused` as a string. */
function readStoredMessages(): OutboxMessage[] {
  const stored = readItem<(Omit<OutboxMessage, "refused"> & { refused?: OutboxMessage["refused"] | string })[]>("letters", []);
  return stored.map(({ refused, ...message }) => {
    if (refused === undefined) return message;
    return { ...message, refused: typeof refused === "string" ? { code: "", message: refused } : refused };
  });
}

const openDrafts = new Map<string, Draft>();

/** The draft of a session; always the same object, so that every composer sees whether it is being sent. */
export function sessionDraft(session: string): Draft {
  const draft = openDrafts.get(session) ?? new Draft(draftStorage(session));
  openDrafts.set(session, draft);
  return draft;
}

function draftStorage(session: string): DraftStorage {
  return {
    read: () => readItem<[string, string][]>("drafts", []).find(([id]) => id === session)?.[1] ?? "",
    write: (text) => {
      const others = readItem<[string, string][]>("drafts", []).filter(([id]) => id !== session);
      writeItem("drafts", (text ? [...others, [session, text]] : others).slice(-DRAFTS_MAX));
    },
  };
}

export type Theme = "system" | "light" | "dark";

/** Choices of the user in this browser. */
export interface Preferences {
  theme: Theme;
  language: string | undefined;
  thinking: boolean;
  notify: boolean;
  /** View of sessions without a saved view. */
  view: View;
}

const DEFAULT_PREFERENCES: Preferences = { theme: "system", language: undefined, thinking: false, notify: false, view: "steps" };

export function readPreferences(): Preferences {
  return { ...DEFAULT_PREFERENCES, ...readItem<Partial<Preferences>>("choices", {}) };
}

export function savePreferences(changes: Partial<Preferences>): void {
  writeItem("choices", { ...readPreferences(), ...changes });
}

const SAVED_VIEWS_MAX = 200;

/** The view last used for the session, else the preferred view. */
export function readView(session: string): View {
  const saved = readItem<[string, View][]>("views", []).find(([id]) => id === session)?.[1];
  return saved && VIEWS.includes(saved) ? saved : readPreferences().view;
}

/** Saves the view for the session and as the preferred view. */
export function saveView(session: string, view: View): void {
  const others = readItem<[string, View][]>("views", []).filter(([id]) => id !== session);
  writeItem("views", [...others, [session, view]].slice(-SAVED_VIEWS_MAX));
  savePreferences({ view });
}
