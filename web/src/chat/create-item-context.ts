// Creates the item context of one session: image URLs, remote images, clipboard.

import type { GatewayClient, Item } from "@millpond/client";
import type { Strings } from "../i18n/strings.ts";
import type { ItemContext } from "../page/item-context.ts";

/** Texts and callbacks; `onEdit` and `onRetry` are missing in a read-only chat. */
export interface ItemContextOptions {
  strings: Strings;
  session: string;
  onEdit?: (item: Item) => void;
  onRetry?: (run: string) => void;
  hasMessage?: (run: string) => boolean;
  onEnlargeImage(src: string, alt: string): void;
  onCopied(): void;
}

export function createItemContext(gateway: GatewayClient, options: ItemContextOptions): ItemContext & { dispose(): void } {
  const { strings, session, onEdit, onRetry, hasMessage = () => false } = options;
  const files = new SessionFileUrls(gateway);
  const createRemoteImage = (url: string, alt: string) => createRemoteImageFrame(gateway, url, alt);
  return {
    strings,
    markdown: {
      strings: { copy: strings.copy, copied: strings.copied, showImage: strings.showImage, diagram: strings.diagram },
      sessionImageUrl: (path) => files.urlFor(path),
      createRemoteImage,
    },
    imageUrl: (ref) => (ref.startsWith("sha256:") ? files.urlFor(gateway.filePath(session, ref.slice(7))) : undefined),
    createRemoteImage,
    enlargeImage: (src, alt) => options.onEnlargeImage(src, alt),
    copyText: (text) => void navigator.clipboard.writeText(text).then(() => options.onCopied()),
    ...(onEdit && { onEdit }),
    ...(onRetry && { onRetry }),
    hasMessage,
    dispose: () => files.dispose(),
  };
}

const RETRY_AFTER_MS = 10_000;

/** URLs of session files. With a token each file is downloaded once and gets an object URL. */
class SessionFileUrls {
  private readonly objectUrls = new Map<string, Promise<string>>();

  constructor(private readonly gateway: GatewayClient) {}

  urlFor(path: string): string | Promise<string> {
    const { gateway } = this;
    if (!gateway.hasToken) return gateway.base + path;
    // The browser does not send the token for images.
    const url = this.objectUrls.get(path) ?? gateway.downloadPath(path).then((file) => URL.createObjectURL(file));
    this.objectUrls.set(path, url);
    // A failed download is retried when rendered again, but not for every delta of the text around it.
    url.catch(() => setTimeout(() => this.objectUrls.delete(path), RETRY_AFTER_MS));
    return url;
  }

  dispose(): void {
    for (const pending of this.objectUrls.values()) pending.then((url) => URL.revokeObjectURL(url), () => undefined);
    this.objectUrls.clear();
  }
}

/** A remote image in a sandboxed frame that can load only that image. */
function createRemoteImageFrame(gateway: GatewayClient, url: string, alt: string): Element {
  const frame = document.createElement("iframe");
  frame.className = "remote-image";
  frame.title = alt || url;
  frame.setAttribute("sandbox", "");
  frame.referrerPolicy = "no-referrer";
  frame.src = `${gateway.base}/remote-image?src=${encodeURIComponent(url)}`;
  return frame;
}
