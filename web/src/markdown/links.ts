// Decides which addresses become links and whether a link must say where it really goes.
// Invariant: nothing but http, https and mailto ever becomes an href.

const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

/** Characters that reorder or hide what stands around them. */
const DECEIVING = /[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/gu;

const HOST_IN_TEXT = /(?:[a-z0-9\p{L}](?:[a-z0-9\p{L}-]*[a-z0-9\p{L}])?\.)+[a-z\p{L}][a-z0-9\p{L}-]*[a-z0-9\p{L}]/giu;

export function safeUrl(address: string): URL | null {
  if (!/^(?:https?:\/\/|mailto:)/i.test(address) || !URL.canParse(address)) return null;
  const url = new URL(address);
  return PROTOCOLS.has(url.protocol) ? url : null;
}

export function webUrl(address: string): URL | null {
  const url = safeUrl(address);
  return url === null || url.protocol === "mailto:" ? null : url;
}

export function escapeDeceiving(text: string): string {
  return text.replace(DECEIVING, (character) => encodeURIComponent(character));
}

/** Where a link goes, when its text names somewhere else; null when the text does not mislead. */
export function hostToReveal(text: string, url: URL): string | null {
  const goesTo = placeOf(url);
  if (url.username !== "" || url.password !== "") return goesTo;
  const plain = text.normalize("NFKC").replace(DECEIVING, "");
  const named = [...plain.matchAll(HOST_IN_TEXT)].map(([host]) => canonicalHost(host));
  const target = canonicalHost(url.protocol === "mailto:" ? goesTo.slice(goesTo.lastIndexOf("@") + 1) : url.hostname);
  return named.length > 0 && named[0] !== target ? goesTo : null;
}

function placeOf(url: URL): string {
  return url.protocol === "mailto:" ? url.pathname : url.host;
}

function canonicalHost(host: string): string {
  const address = `http://${host}`;
  const name = URL.canParse(address) ? new URL(address).hostname : host.toLowerCase();
  return name.replace(/^www\./, "");
}
