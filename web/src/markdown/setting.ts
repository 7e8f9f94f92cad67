// What the parser and the renderer are told about the text in hand.

import type { Env } from "markdown-it";

export interface Words {
  copy: string;
  copied: string;
  showImage: (host: string) => string;
  diagram: string;
}

export interface Setting extends Env {
  references: NonNullable<Env["references"]>;
  /** More text may follow the last line. */
  growing: boolean;
  /** Null in an exported page, which has nothing to press. */
  words: Words | null;
}

export function isGrowing(env: Env): boolean {
  return (env as Setting).growing;
}

export function wordsOf(env: Env | undefined): Words | null {
  return (env as Setting).words;
}
