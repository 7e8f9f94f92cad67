// Decides what an image in the text becomes: our own picture, a remote one behind a button, or its words.
// Invariant: showing a text never makes a request to another origin.

import { webUrl } from "./links.ts";

export type Picture =
  | { kind: "own"; path: string }
  | { kind: "remote"; url: URL }
  | { kind: "words" };

const OWN_BLOB = /^\/v1\/sessions\/[\w.~-]+\/blobs\/[\w.~-]+(?:\/[\w.~-]+)*$/;

export function pictureOf(address: string): Picture {
  if (isOwnBlob(address)) return { kind: "own", path: address };
  const url = webUrl(address);
  return url === null ? { kind: "words" } : { kind: "remote", url };
}

function isOwnBlob(address: string): boolean {
  // Dot segments would let the path climb out of the session.
  return OWN_BLOB.test(address) && !/\/\.{1,2}(?:\/|$)/.test(address);
}
