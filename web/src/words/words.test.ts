import { expect, test } from "vitest";
import { answerWords } from "./answers.ts";
import { en } from "./en.ts";
import { pl } from "./pl.ts";
import { languageOf, ranFor, wordsOf } from "./words.ts";

function shape(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value;
  // English is what the gateway itself speaks.
  if (value === en.because || value === pl.because) return "because";
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, shape(of)]));
}

test("every language says everything, and in its own words", () => {
  expect(shape(pl)).toEqual(shape(en));
  const same = Object.entries(pl).filter(([name, text]) => typeof text === "string" && text === en[name as keyof typeof en]);
  // Words that are the same in both.
  expect(same.map(([name]) => name).sort()).toEqual(["agent", "diagram", "menu", "product", "shareLink"]);
});

test("the language is the one chosen, else the browser's, else English", () => {
  expect(languageOf([undefined, "pl-PL", "en"])).toBe("pl");
  expect(languageOf(["en", "pl"])).toBe("en");
  expect(languageOf(["de", null])).toBe("en");
});

test("how long steps ran is said in the reader's language", async () => {
  expect(ranFor("Ran for 1.2s", await wordsOf("pl"))).toBe("Praca: 1.2s");
  expect(ranFor("Ran for 1m 4s", await wordsOf("en"))).toBe("Ran for 1m 4s");
  expect(ranFor("Steps", pl)).toBe("Kroki");
});

test("answers are said in the reader's language, as they are offered and as they were given", () => {
  expect(answerWords("Always allow run_command in this session", pl)).toBe("Zawsze zezwalaj na run_command w tej rozmowie");
  expect(answerWords("Allow once", pl)).toBe("Zezwól raz");
  expect(answerWords("deny: not that file", pl)).toBe("Odmówiono: not that file");
  expect(answerWords("always", en)).toBe("Always allowed");
  expect(answerWords("something of its own", pl)).toBe("something of its own");
});
