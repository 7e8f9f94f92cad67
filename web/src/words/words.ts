// Which table of texts is used: the one that was chosen, else the browser's, else English.

import { en, type Words } from "./en.ts";

export type { Words } from "./en.ts";

export const LANGUAGES = { en: "English", pl: "Polski" } as const;
export type Language = keyof typeof LANGUAGES;

/** English is always there; the others come when they are wanted. */
const TABLES: Record<Language, () => Promise<Words>> = {
  en: () => Promise.resolve(en),
  pl: () => import("./pl.ts").then(({ pl }) => pl),
};

export function languageOf(wanted: readonly (string | null | undefined)[]): Language {
  const known = wanted.map((word) => word?.slice(0, 2).toLowerCase()).find((word) => word && word in TABLES);
  return (known as Language | undefined) ?? "en";
}

export function wordsOf(language: Language): Promise<Words> {
  return TABLES[language]();
}

/** The engine says in English how long steps ran. */
export function ranFor(label: string | undefined, words: Words): string {
  const time = /^Ran for (.*)$/.exec(label ?? "")?.[1];
  return time === undefined ? words.stepsOf : words.ranFor(time);
}
