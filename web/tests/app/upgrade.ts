// A gateway before and after an upgrade: the new build has other file names, and the old files are gone. Files
// are not cached by the browser, which may drop them at any time.

import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { TestGateway } from "./gateway.ts";

/** HTTP server in front of a gateway that can switch to the new build. */
export class UpgradableServer {
  readonly server = createServer((clientRequest, clientResponse) => this.respond(clientRequest, clientResponse));
  private isUpgraded = false;

  private constructor(
    private readonly gateway: TestGateway,
    private readonly build: string,
    /** Files of the old build with their names in the new one. */
    private readonly nextNames: ReadonlyMap<string, string>,
    private readonly textChange: readonly [string, string],
  ) {}

  /** `textChange`: a text of the old build and its replacement in the new one. */
  static async create(gateway: TestGateway, textChange: readonly [string, string]): Promise<UpgradableServer> {
    const worker = await (await fetch(`http://127.0.0.1:${gateway.port}/sw.js`)).text();
    const { name, files } = JSON.parse(/const BUILD = (.*);/.exec(worker)?.[1] ?? "{}") as { name: string; files: string[] };
    const names = files.filter((file) => file.startsWith("/assets/")).map((file) => [file, file.replace(/(\.\w+)$/, "_next$1")] as const);
    return new UpgradableServer(gateway, name, new Map(names), textChange);
  }

  upgrade(): void {
    this.isUpgraded = true;
  }

  buildOf(path: string): "before" | "after" | undefined {
    if (this.nextNames.has(path)) return "before";
    return this.previousName(path) === undefined ? undefined : "after";
  }

  private previousName(path: string): string | undefined {
    return [...this.nextNames].find(([, after]) => after === path)?.[0];
  }

  private respond(clientRequest: IncomingMessage, clientResponse: ServerResponse): void {
    const path = clientRequest.url ?? "/";
    if (this.buildOf(path) === (this.isUpgraded ? "before" : "after")) return void clientResponse.writeHead(404).end();
    const isFile = clientRequest.method === "GET" && !path.startsWith("/v1/") && !path.startsWith("/login");
    const { "if-none-match": _, "accept-encoding": __, ...headers } = clientRequest.headers;
    const forwarded = request({ host: "127.0.0.1", port: this.gateway.port, method: clientRequest.method, path: this.previousName(path) ?? path, headers: isFile ? headers : clientRequest.headers });
    forwarded.on("response", (upstream) => (isFile ? this.forwardFile(upstream, clientResponse) : forward(upstream, clientResponse)));
    forwarded.on("error", () => clientResponse.destroy());
    clientResponse.on("close", () => forwarded.destroy());
    clientRequest.pipe(forwarded);
  }

  private forwardFile(upstream: IncomingMessage, clientResponse: ServerResponse): void {
    const { etag: _, "content-length": __, ...headers } = upstream.headers;
    const parts: Buffer[] = [];
    upstream.on("data", (part: Buffer) => parts.push(part));
    upstream.on("end", () => {
      const body = Buffer.concat(parts);
      const isText = /javascript|html|css/.test(String(upstream.headers["content-type"]));
      clientResponse.writeHead(upstream.statusCode ?? 500, { ...headers, "cache-control": "no-store" });
      clientResponse.end(isText && this.isUpgraded ? this.rewriteForNext(body.toString()) : body);
    });
  }

  private rewriteForNext(text: string): string {
    const named = [...this.nextNames].reduce((text, [before, after]) => text.replaceAll(fileName(before), fileName(after)), text);
    return named.replace(this.build, `${this.build}next`).replaceAll(...this.textChange);
  }
}

function forward(upstream: IncomingMessage, clientResponse: ServerResponse): void {
  clientResponse.writeHead(upstream.statusCode ?? 500, upstream.headers);
  upstream.pipe(clientResponse);
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
