// What a page needs from where it stands: texts, files, and what can be done with an item.

import type { Item } from "@millpond/client";
import type { Surroundings } from "../markdown/stream.ts";
import type { Words } from "../words/words.ts";

export interface Around {
  words: Words;
  markdown: Surroundings;
  /** Where a browser finds a picture that a page names; nothing if it must not be loaded unasked. */
  picture(ref: string): string | Promise<string> | undefined;
  remotePicture(url: string, alt: string): Element;
  openLarge(src: string, alt: string): void;
  /** What a person may do with what they wrote; nothing for readers. */
  edit?: (item: Item) => void;
  copy(text: string): void;
}
