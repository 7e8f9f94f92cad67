// A gateway before and after an upgrade: then its app is another build, whose files have other names,
// and those of the build before are not there. No file is in the browser's own cache, which may have
// forgotten it at any time.

import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { TestGateway } from "./gateway.ts";

export class Upgradable {
  readonly server = createServer((asked, given) => this.answer(asked, given));
  private isUpgraded = false;

  private constructor(
    private readonly gateway: TestGateway,
    private readonly build: string,
    /** The files of the build before, each with its name in the one after. */
    private readonly names: ReadonlyMap<string, string>,
    private readonly changed: readonly [string, string],
  ) {}

  /** `changed` says what a person sees of the upgrade: words of the build before, and those in their place. */
  static async of(gateway: TestGateway, changed: readonly [string, string]): Promise<Upgradable> {
    const worker = await (await fetch(`http://127.0.0.1:${gateway.port}/sw.js`)).text();
    const { name, files } = JSON.parse(/const BUILD = (.*);/.exec(worker)?.[1] ?? "{}") as { name: string; files: string[] };
    const names = files.filter((file) => file.startsWith("/assets/")).map((file) => [file, file.replace(/(\.\w+)$/, "_next$1")] as const);
    return new Upgradable(gateway, name, new Map(names), changed);
  }

  upgrade(): void {
    this.isUpgraded = true;
  }

  buildOf(path: string): "before" | "after" | undefined {
    if (this.names.has(path)) return "before";
    return this.nameBefore(path) === undefined ? undefined : "after";
  }

  private nameBefore(path: string): string | undefined {
    return [...this.names].find(([, after]) => after === path)?.[0];
  }

  private answer(asked: IncomingMessage, given: ServerResponse): void {
    const path = asked.url ?? "/";
    if (this.buildOf(path) === (this.isUpgraded ? "before" : "after")) return void given.writeHead(404).end();
    const isFile = asked.method === "GET" && !path.startsWith("/v1/") && !path.startsWith("/login");
    const { "if-none-match": _, "accept-encoding": __, ...headers } = asked.headers;
    const up = request({ host: "127.0.0.1", port: this.gateway.port, method: asked.method, path: this.nameBefore(path) ?? path, headers: isFile ? headers : asked.headers });
    up.on("response", (answered) => (isFile ? this.passFile(answered, given) : pass(answered, given)));
    up.on("error", () => given.destroy());
    given.on("close", () => up.destroy());
    asked.pipe(up);
  }

  private passFile(answered: IncomingMessage, given: ServerResponse): void {
    const { etag: _, "content-length": __, ...headers } = answered.headers;
    const parts: Buffer[] = [];
    answered.on("data", (part: Buffer) => parts.push(part));
    answered.on("end", () => {
      const body = Buffer.concat(parts);
      const isText = /javascript|html|css/.test(String(answered.headers["content-type"]));
      given.writeHead(answered.statusCode ?? 500, { ...headers, "cache-control": "no-store" });
      given.end(isText && this.isUpgraded ? this.rewritten(body.toString()) : body);
    });
  }

  private rewritten(text: string): string {
    const named = [...this.names].reduce((text, [before, after]) => text.replaceAll(last(before), last(after)), text);
    return named.replace(this.build, `${this.build}next`).replaceAll(...this.changed);
  }
}

function pass(answered: IncomingMessage, given: ServerResponse): void {
  given.writeHead(answered.statusCode ?? 500, answered.headers);
  answered.pipe(given);
}

function last(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
