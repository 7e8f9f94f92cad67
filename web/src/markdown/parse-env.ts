// Environment of one parse, passed to markdown-it rules.

import type { Env } from "markdown-it";

/** User interface texts inside a rendered text. */
export interface MarkdownStrings {
  copy: string;
  copied: string;
  showImage: (host: string) => string;
  diagram: string;
}

/** The markdown-it environment with our fields. */
export interface ParseEnv extends Env {
  references: NonNullable<Env["references"]>;
  /** More text may follow the last line. */
  growing: boolean;
  /** Null in an export, which has no buttons. */
  strings: MarkdownStrings | null;
}

export function isGrowing(env: Env): boolean {
  return (env as ParseEnv).growing;
}

export function stringsOf(env: Env | undefined): MarkdownStrings | null {
  return (env as ParseEnv).strings;
}
