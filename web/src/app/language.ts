// The language that was chosen in this browser, else the browser's own.

import { languageOf, wordsOf, type Words } from "../words/words.ts";
import { choices } from "./kept.ts";

/** Its words; the page says that it is in that language. */
export function chosenWords(): Promise<Words> {
  const language = languageOf([choices().language, ...navigator.languages]);
  document.documentElement.lang = language;
  return wordsOf(language);
}
