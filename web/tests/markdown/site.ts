// Builds the harness page once and serves it on loopback, with or without the app's content security policy.

import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const WEB = fileURLToPath(new URL("../../", import.meta.url));
const BUILT = join(WEB, "dist-harness/markdown");
const STAMP = join(WEB, "dist-harness/markdown.stamp");

export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; font-src 'self'";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
};

export interface Site {
  url: string;
  close(): Promise<void>;
}

export async function serve(policy: typeof POLICY | null): Promise<Site> {
  await buildOnce();
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname));
    const file = join(BUILT, path === "/" ? "index.html" : path);
    if (policy !== null) response.setHeader("content-security-policy", policy);
    if (!file.startsWith(BUILT) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}

async function buildOnce(): Promise<void> {
  const stamp = inputsStamp();
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === stamp) return;
  await build({ configFile: join(WEB, "harness/vite.config.ts") });
  writeFileSync(STAMP, stamp);
}

function inputsStamp(): string {
  const hash = createHash("sha256");
  for (const folder of ["src", "harness", "packages/client/src"]) {
    const names = readdirSync(join(WEB, folder), { recursive: true, encoding: "utf8" }).sort();
    for (const name of names.filter((name) => statSync(join(WEB, folder, name)).isFile())) hash.update(name).update(readFileSync(join(WEB, folder, name)));
  }
  return hash.update(readFileSync(join(WEB, "package-lock.json"))).update(readFileSync(join(WEB, "vite.plugins.ts"))).digest("hex");
}
