// The pictures of an item as text, to be put into a file.

import type { Gateway, Item } from "@millpond/client";

/** What a browser loads in place of a picture, by what an item calls it. */
export type Pictures = ReadonlyMap<string, string>;

const SHOWN = /^image\/(png|jpeg|gif|webp|avif)$/;

/** Those that cannot be had are left out. */
export async function picturesOf(item: Item, gateway: Gateway, session: string): Promise<Pictures> {
  const refs = new Set(refsOf(item).filter((ref) => ref.startsWith("sha256:")));
  const found = await Promise.all(
    [...refs].map(async (ref) => [ref, await gateway.file(session, ref.slice(7)).then(asAddress, () => undefined)] as const),
  );
  return new Map(found.flatMap(([ref, address]) => (address === undefined ? [] : [[ref, address]])));
}

function refsOf({ images = [], steps = [] }: Item): string[] {
  return [...images.map(({ ref }) => ref), ...steps.flatMap(refsOf)];
}

async function asAddress(file: Blob): Promise<string | undefined> {
  if (!SHOWN.test(file.type)) return undefined;
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  // In pieces: there are only so many arguments that a call can have.
  for (let from = 0; from < bytes.length; from += 0x8000) binary += String.fromCharCode(...bytes.subarray(from, from + 0x8000));
  return `data:${file.type};base64,${btoa(binary)}`;
}
