// The language of this browser: the chosen one, else the browser's own.

import { loadStrings, pickLanguage, type Strings } from "../i18n/strings.ts";
import { readPreferences } from "./browser-storage.ts";

/** Sets the language of the document and loads its texts. */
export function applyLanguage(): Promise<Strings> {
  const language = pickLanguage([readPreferences().language, ...navigator.languages]);
  document.documentElement.lang = language;
  return loadStrings(language);
}
