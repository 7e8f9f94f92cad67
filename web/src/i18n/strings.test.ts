import { expect, test } from "vitest";
import { answerText, askHeading, askQuestion } from "./ask-text.ts";
import { en } from "./en.ts";
import { pl } from "./pl.ts";
import { pickLanguage, ranForText, loadStrings } from "./strings.ts";

function shape(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value;
  // The gateway's own messages are English: only other languages have entries.
  if (value === en.gatewayErrors || value === pl.gatewayErrors) return "gatewayErrors";
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shape(field)]));
}

test("every language has every text, translated", () => {
  expect(shape(pl)).toEqual(shape(en));
  const same = Object.entries(pl).filter(([name, text]) => typeof text === "string" && text === en[name as keyof typeof en]);
  // The same in both languages.
  expect(same.map(([name]) => name).sort()).toEqual(["agent", "diagram", "product", "shareLink"]);
});

test("the language is the one chosen, else the browser's, else English", () => {
  expect(pickLanguage([undefined, "pl-PL", "en"])).toBe("pl");
  expect(pickLanguage(["en", "pl"])).toBe("en");
  expect(pickLanguage(["de", null])).toBe("en");
});

test("the duration label of steps is translated", async () => {
  expect(ranForText("Ran for 1.2s", await loadStrings("pl"))).toBe("Praca: 1.2s");
  expect(ranForText("Ran for 1m 4s", await loadStrings("en"))).toBe("Ran for 1m 4s");
  expect(ranForText("Steps", pl)).toBe("Kroki");
});

test("answers are translated, as option labels and as given answers", () => {
  expect(answerText("Always allow run_command in this session", pl)).toBe("Zawsze zezwalaj na run_command w tej rozmowie");
  expect(answerText("Allow once", pl)).toBe("Zezwól raz");
  expect(answerText("deny: not that file", pl)).toBe("Odmówiono: not that file");
  expect(answerText("always", en)).toBe("Always allowed");
  expect(answerText("an unknown answer", pl)).toBe("an unknown answer");
});

test("the question of an ask names the tool if an option does", () => {
  const options = [{ id: "allow", label: "Allow once" }, { id: "always", label: "Always allow write_file in this session" }];
  expect(askQuestion({ kind: "tool", options }, en)).toBe("Allow write_file?");
  expect(askQuestion({ kind: "command", options: [] }, en)).toBe("Run this command?");
  expect(askHeading("unheard-of", en)).toBe("Decision needed");
});
