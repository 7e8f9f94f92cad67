// A gateway as it is after an upgrade: its app is another build, whose files have other names, and
// those of the build before are not there.

import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { TestGateway } from "./gateway.ts";

export interface Upgrade {
  server: Server;
  /** The files of the build before, and of this. */
  before: ReadonlySet<string>;
  after: ReadonlySet<string>;
}

/** `changed` says what a person sees of it: the words of the build before, and those in their place. */
export async function upgradeOf(gateway: TestGateway, changed: readonly [string, string]): Promise<Upgrade> {
  const worker = await (await fetch(`http://127.0.0.1:${gateway.port}/sw.js`)).text();
  const { name, files } = JSON.parse(/const BUILD = (.*);/.exec(worker)?.[1] ?? "{}") as { name: string; files: string[] };
  const names = new Map(files.filter((file) => file.startsWith("/assets/")).map((file) => [file, file.replace(/(\.\w+)$/, "_next$1")]));
  const rewritten = (text: string) =>
    [...names].reduce((text, [before, after]) => text.replaceAll(last(before), last(after)), text.replace(name, `${name}next`)).replaceAll(...changed);
  const olds = new Map([...names].map(([before, after]) => [after, before]));

  const answer = (asked: IncomingMessage, given: ServerResponse): void => {
    const path = asked.url ?? "/";
    if (names.has(path)) return void given.writeHead(404).end();
    const isFile = asked.method === "GET" && !path.startsWith("/v1/") && !path.startsWith("/login");
    // What it has is not what the browser kept of the build before.
    const { "if-none-match": _, "accept-encoding": __, ...headers } = asked.headers;
    const up = request({ host: "127.0.0.1", port: gateway.port, method: asked.method, path: olds.get(path) ?? path, headers: isFile ? headers : asked.headers });
    up.on("response", (answered) => {
      const { etag: _, "content-length": __, ...rest } = answered.headers;
      const isText = /javascript|html|css/.test(String(answered.headers["content-type"]));
      given.writeHead(answered.statusCode ?? 500, isFile && isText ? rest : answered.headers);
      if (!isFile || !isText) return void answered.pipe(given);
      let text = "";
      answered.setEncoding("utf8").on("data", (more: string) => (text += more));
      answered.on("end", () => given.end(rewritten(text)));
    });
    up.on("error", () => given.destroy());
    given.on("close", () => up.destroy());
    asked.pipe(up);
  };
  return { server: createServer(answer), before: new Set(names.keys()), after: new Set(names.values()) };
}

function last(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
