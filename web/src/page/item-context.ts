// Dependencies of item rendering: texts, image URLs, actions.

import type { Item } from "@millpond/client";
import type { Strings } from "../i18n/strings.ts";
import type { MarkdownOptions } from "../markdown/stream.ts";

export interface ItemContext {
  strings: Strings;
  markdown: MarkdownOptions;
  /** URL of a session image; undefined for a remote image, which is loaded only on request. */
  imageUrl(ref: string): string | Promise<string> | undefined;
  createRemoteImage(url: string, alt: string): Element;
  enlargeImage(src: string, alt: string): void;
  /** Edits a user message as a branch; missing in a read-only chat. */
  onEdit?: (item: Item) => void;
  /** Starts a run again; missing in a read-only chat. */
  onRetry?: (run: string) => void;
  /** True if the page shows a message of the run: a heartbeat's run, or one that was ingested, has none to send again. */
  hasMessage(run: string): boolean;
  copyText(text: string): void;
}
