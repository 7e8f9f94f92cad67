// Routes of the app: the start page, a session, a shared session.

export type Route = { kind: "start" } | { kind: "session"; session: string } | { kind: "shared"; session: string; token: string };

/** The route of an address; unknown paths are the start page. */
export function parseRoute({ pathname, hash }: { pathname: string; hash: string }): Route {
  const [, kind, session = ""] = /^\/(s|share)\/([0-9A-Z]{26})$/.exec(pathname) ?? [];
  if (kind === "s") return { kind: "session", session };
  if (kind === "share") return { kind: "shared", session, token: hash.slice(1) };
  return { kind: "start" };
}
