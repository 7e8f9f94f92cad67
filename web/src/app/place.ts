// What the address names.

export type Place = { what: "start" } | { what: "session"; session: string } | { what: "shared"; session: string; token: string };

export function placeOf({ pathname, hash }: { pathname: string; hash: string }): Place {
  const [, kind, session = ""] = /^\/(s|share)\/([0-9A-Z]{26})$/.exec(pathname) ?? [];
  if (kind === "s") return { what: "session", session };
  if (kind === "share") return { what: "shared", session, token: hash.slice(1) };
  return { what: "start" };
}
