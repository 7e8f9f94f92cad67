// Decides which URLs become links and when a link must show its destination.
// Invariant: only http, https and mailto become an href.

const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

/** Invisible characters and characters that reorder text. */
const DECEPTIVE_CHARACTERS = /[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/gu;

const HOST_IN_TEXT = /(?:[a-z0-9\p{L}](?:[a-z0-9\p{L}-]*[a-z0-9\p{L}])?\.)+[a-z\p{L}][a-z0-9\p{L}-]*[a-z0-9\p{L}]/giu;

/** Parses an http, https or mailto URL; null for anything else. */
export function parseSafeUrl(address: string): URL | null {
  if (!/^(?:https?:\/\/|mailto:)/i.test(address) || !URL.canParse(address)) return null;
  const url = new URL(address);
  return PROTOCOLS.has(url.protocol) ? url : null;
}

/** Parses an http or https URL; null for anything else. */
export function parseWebUrl(address: string): URL | null {
  const url = parseSafeUrl(address);
  return url === null || url.protocol === "mailto:" ? null : url;
}

/** Percent-encodes deceptive characters. */
export function escapeDeceptive(text: string): string {
  return text.replace(DECEPTIVE_CHARACTERS, (character) => encodeURIComponent(character));
}

/** Destination of a link whose text names another host; null if the text does not mislead. */
export function misleadingLinkHost(text: string, url: URL): string | null {
  const destination = linkDestination(url);
  if (url.username !== "" || url.password !== "") return destination;
  const plain = text.normalize("NFKC").replace(DECEPTIVE_CHARACTERS, "");
  const named = [...plain.matchAll(HOST_IN_TEXT)].map(([host]) => canonicalHost(host));
  const target = canonicalHost(url.protocol === "mailto:" ? destination.slice(destination.lastIndexOf("@") + 1) : url.hostname);
  return named.length > 0 && named[0] !== target ? destination : null;
}

function linkDestination(url: URL): string {
  return url.protocol === "mailto:" ? url.pathname : url.host;
}

function canonicalHost(host: string): string {
  const address = `http://${host}`;
  const name = URL.canParse(address) ? new URL(address).hostname : host.toLowerCase();
  return name.replace(/^www\./, "");
}
