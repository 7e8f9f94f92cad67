// What this browser keeps: choices, drafts, letters. All of it can be lost without harm but letters,
// which are written before they are sent.

import { VIEWS, type Drawer, type Letter, type View } from "@millpond/client";
import type { Drafts } from "../chat/composer.ts";

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
  read: () => unkept ?? read<Letter[]>("letters", []),
  write: (value) => {
    write("letters", value);
    const kept = read<Letter[]>("letters", []);
    unkept = kept.length === value.length && kept.every(({ key }, place) => key === value[place]?.key) ? undefined : value;
  },
};

const picturesOf = new Map<string, readonly File[]>();

export function draftsOf(session: string): Drafts {
  return {
    get pictures() {
      return picturesOf.get(session) ?? [];
    },
    set pictures(pictures) {
      if (pictures.length) picturesOf.set(session, pictures);
      else picturesOf.delete(session);
    },
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
