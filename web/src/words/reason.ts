// Why something did not work, in the reader's language.

import { Refused } from "@millpond/client";
import type { Words } from "./words.ts";

export function reasonOf(error: unknown, words: Words): string {
  if (error instanceof Refused) return saidBy(error, words);
  // That is how a browser says that there was no answer.
  if (error instanceof TypeError || error instanceof DOMException) return words.unreachable;
  return error instanceof Error ? error.message : String(error);
}

export function saidBy({ code, message }: { code: string; message: string }, words: Words): string {
  return words.because[code] ?? message;
}
