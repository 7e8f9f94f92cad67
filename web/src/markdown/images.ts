// Classifies images in a text: session image, remote image (behind a button), or alt text only.
// Invariant: showing a text never makes a request to another origin.

import { parseWebUrl } from "./links.ts";

export type ImageKind =
  | { kind: "session"; path: string }
  | { kind: "remote"; url: URL }
  | { kind: "alt-text" };

const SESSION_BLOB_PATH = /^\/v1\/sessions\/[\w.~-]+\/blobs\/[\w.~-]+(?:\/[\w.~-]+)*$/;

export function classifyImage(address: string): ImageKind {
  if (isSessionBlob(address)) return { kind: "session", path: address };
  const url = parseWebUrl(address);
  return url === null ? { kind: "alt-text" } : { kind: "remote", url };
}

function isSessionBlob(address: string): boolean {
  // Dot segments would let the path leave the session.
  return SESSION_BLOB_PATH.test(address) && !/\/\.{1,2}(?:\/|$)/.test(address);
}
