// Images of an item as data URLs, to embed them in an exported file.

import type { GatewayClient, Item } from "@millpond/client";

/** Data URLs by image ref. */
export type ImageDataUrls = ReadonlyMap<string, string>;

const EMBEDDABLE_TYPES = /^image\/(png|jpeg|gif|webp|avif)$/;

const CHUNK_BYTES = 0x8000;

/** Downloads the session images of an item and its steps; images that fail are left out. */
export async function loadImageDataUrls(item: Item, gateway: GatewayClient, session: string): Promise<ImageDataUrls> {
  const refs = new Set(collectImageRefs(item).filter((ref) => ref.startsWith("sha256:")));
  const loaded = await Promise.all(
    [...refs].map(async (ref) => [ref, await gateway.downloadFile(session, ref.slice(7)).then(toDataUrl, () => undefined)] as const),
  );
  return new Map(loaded.flatMap(([ref, url]) => (url === undefined ? [] : [[ref, url]])));
}

function collectImageRefs({ images = [], steps = [] }: Item): string[] {
  return [...images.map(({ ref }) => ref), ...steps.flatMap(collectImageRefs)];
}

async function toDataUrl(file: Blob): Promise<string | undefined> {
  if (!EMBEDDABLE_TYPES.test(file.type)) return undefined;
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  // In chunks: the number of arguments of a call is limited.
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES));
  return `data:${file.type};base64,${btoa(binary)}`;
}
