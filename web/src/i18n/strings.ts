// Languages of the user interface and their texts.

import { en, type Strings } from "./en.ts";

export type { Strings } from "./en.ts";

/** Supported languages with their own names. */
export const LANGUAGES = { en: "English", pl: "Polski" } as const;
export type Language = keyof typeof LANGUAGES;

/** English is bundled; other languages are loaded on demand. */
const LOADERS: Record<Language, () => Promise<Strings>> = {
  en: () => Promise.resolve(en),
  pl: () => import("./pl.ts").then(({ pl }) => pl),
};

/** The first supported language of `preferred`, else English. */
export function pickLanguage(preferred: readonly (string | null | undefined)[]): Language {
  const supported = preferred.map((tag) => tag?.slice(0, 2).toLowerCase()).find((tag) => tag && tag in LOADERS);
  return (supported as Language | undefined) ?? "en";
}

export function loadStrings(language: Language): Promise<Strings> {
  return LOADERS[language]();
}

/** A duration like `1.2s`, `12s` or `1m 4s`. */
export function formatDuration(ms: number): string {
  const tenths = Math.floor((ms + 50) / 100);
  if (tenths < 100) return `${tenths / 10}s`;
  const seconds = Math.floor((ms + 500) / 1000);
  const parts = [`${Math.floor(seconds / 3600)}h`, `${Math.floor(seconds / 60) % 60}m`, `${seconds % 60}s`];
  const first = parts.findIndex((part) => !part.startsWith("0"));
  return parts.slice(first, first + 2).filter((part) => !part.startsWith("0")).join(" ");
}

/** Translates the engine's English label `Ran for …` of a group of steps. */
export function ranForText(label: string | undefined, strings: Strings): string {
  const time = /^Ran for (.*)$/.exec(label ?? "")?.[1];
  return time === undefined ? strings.steps : strings.ranFor(time);
}
