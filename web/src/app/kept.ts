// What this browser keeps: choices, drafts, letters. All of it can be lost without harm but letters,
// which are written before they are sent.

import { VIEWS, type Drawer, type Letter, type View } from "@millpond/client";
import { Draft, type Keeping } from "../chat/draft.ts";

/** Drafts of so many sessions are kept. */
const DRAFTS_MAX = 50;

function read<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`millpond.${name}`);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

function write(name: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(`millpond.${name}`);
    else localStorage.setItem(`millpond.${name}`, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing shows what it is told all the same.
  }
}

/** Letters that the browser would not keep, kept while the page is open. */
let unkept: Letter[] | undefined;

export const letters: Drawer = {
  read: () => unkept ?? keptLetters(),
  write: (value) => {
    write("letters", value);
    // Whole: one whose refusal found no room would be sent again and again.
    unkept = JSON.stringify(read<unknown>("letters", [])) === JSON.stringify(value) ? undefined : value;
  },
};

/** Pages before this one kept why a letter was refused as words alone. */
function keptLetters(): Letter[] {
  const kept = read<(Omit<Letter, "refused"> & { refused?: Letter["refused"] | string })[]>("letters", []);
  return kept.map(({ refused, ...letter }) => {
    if (refused === undefined) return letter;
    return { ...letter, refused: typeof refused === "string" ? { code: "", message: refused } : refused };
  });
}

const drafts = new Map<string, Draft>();

/** The same of a session however often it is asked for: what is on its way from it is known to all who show it. */
export function draftOf(session: string): Draft {
  const draft = drafts.get(session) ?? new Draft(keepingOf(session));
  drafts.set(session, draft);
  return draft;
}

function keepingOf(session: string): Keeping {
  return {
    read: () => read<[string, string][]>("drafts", []).find(([of]) => of === session)?.[1] ?? "",
    write: (text) => {
      const others = read<[string, string][]>("drafts", []).filter(([of]) => of !== session);
      write("drafts", (text ? [...others, [session, text]] : others).slice(-DRAFTS_MAX));
    },
  };
}

export type Theme = "system" | "light" | "dark";

export interface Choices {
  theme: Theme;
  language: string | undefined;
  thinking: boolean;
  notify: boolean;
  /** The view of sessions that have none of their own. */
  view: View;
}

const FIRST: Choices = { theme: "system", language: undefined, thinking: false, notify: false, view: "steps" };

export function choices(): Choices {
  return { ...FIRST, ...read<Partial<Choices>>("choices", {}) };
}

export function choose(changed: Partial<Choices>): void {
  write("choices", { ...choices(), ...changed });
}

const VIEWS_MAX = 200;

export function viewOf(session: string): View {
  const own = read<[string, View][]>("views", []).find(([of]) => of === session)?.[1];
  return own && VIEWS.includes(own) ? own : choices().view;
}

/** Remembered for the session, and for those that come after it. */
export function keepView(session: string, view: View): void {
  const others = read<[string, View][]>("views", []).filter(([of]) => of !== session);
  write("views", [...others, [session, view]].slice(-VIEWS_MAX));
  choose({ view });
}
