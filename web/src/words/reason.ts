// Why something did not work, in the reader's language.

import { Refused } from "@millpond/client";
import type { Words } from "./words.ts";

/** A file that is not the picture that its name promises. */
export class Unreadable extends Error {}

export function reasonOf(error: unknown, words: Words): string {
  if (error instanceof Refused) return saidBy(error, words);
  if (error instanceof Unreadable) return words.cannotRead(error.message);
  if (error instanceof DOMException && error.name === "TimeoutError") return words.tookTooLong;
  // That is how a browser says that there was no answer.
  if (error instanceof TypeError || error instanceof DOMException) return words.unreachable;
  return error instanceof Error ? error.message : String(error);
}

export function saidBy({ code, message }: { code: string; message: string }, words: Words): string {
  return words.because[code] ?? message;
}
