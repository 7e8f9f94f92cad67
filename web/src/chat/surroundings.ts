// What the pages of one session need of the gateway and the window.

import type { Gateway, Item } from "@millpond/client";
import type { Around } from "../page/around.ts";
import type { Words } from "../words/words.ts";

export interface Wishes {
  words: Words;
  session: string;
  edit?: (item: Item) => void;
  openLarge(src: string, alt: string): void;
  copied(): void;
}

export function aroundOf(gateway: Gateway, wishes: Wishes): Around & { dispose(): void } {
  const { words, session, edit } = wishes;
  const files = new Files(gateway);
  const remotePicture = (url: string, alt: string) => remoteFrame(gateway, url, alt);
  return {
    words,
    markdown: {
      words: { copy: words.copy, copied: words.copied, showImage: words.showImage, diagram: words.diagram },
      ownImage: (path) => files.at(path),
      remoteImage: remotePicture,
    },
    picture: (ref) => (ref.startsWith("sha256:") ? files.at(gateway.filePath(session, ref.slice(7))) : undefined),
    remotePicture,
    openLarge: (src, alt) => wishes.openLarge(src, alt),
    copy: (text) => void navigator.clipboard.writeText(text).then(() => wishes.copied()),
    ...(edit && { edit }),
    dispose: () => files.dispose(),
  };
}

const AGAIN_AFTER_MS = 10_000;

/** Where the files of sessions are found: each is fetched once, however often it is shown. */
class Files {
  private readonly fetched = new Map<string, Promise<string>>();

  constructor(private readonly gateway: Gateway) {}

  at(path: string): string | Promise<string> {
    const { gateway } = this;
    if (!gateway.hasToken) return gateway.base + path;
    // What a browser loads by itself carries no token.
    const place = this.fetched.get(path) ?? gateway.fileAt(path).then((file) => URL.createObjectURL(file));
    this.fetched.set(path, place);
    // What did not come is asked for again when it is shown again, but not with every word of a text that names it.
    place.catch(() => setTimeout(() => this.fetched.delete(path), AGAIN_AFTER_MS));
    return place;
  }

  dispose(): void {
    for (const place of this.fetched.values()) place.then((url) => URL.revokeObjectURL(url), () => undefined);
    this.fetched.clear();
  }
}

/** A picture from elsewhere, in a frame that may load it and nothing else. */
function remoteFrame(gateway: Gateway, url: string, alt: string): Element {
  const frame = document.createElement("iframe");
  frame.className = "remote-picture";
  frame.title = alt || url;
  frame.setAttribute("sandbox", "");
  frame.referrerPolicy = "no-referrer";
  frame.src = `${gateway.base}/remote-image?src=${encodeURIComponent(url)}`;
  return frame;
}
