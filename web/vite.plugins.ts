// Vite plugins of the build.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** Replaces the package `entities` by the browser's own decoder. */
export function browserEntities(root: string): Plugin {
  const file = join(root, "src/markdown/entities.ts");
  return { name: "browser-entities", apply: "build", enforce: "pre", resolveId: (id) => (id === "entities" ? file : undefined) };
}

/** Adds preload links for the chat to index.html, so that it is requested with the page. */
export function preloadChat(): Plugin {
  return {
    name: "preload-chat",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (_, { bundle = {}, filename }) => {
        if (!filename.endsWith("/index.html")) return [];
        const chat = Object.values(bundle).find((file) => file.type === "chunk" && file.facadeModuleId?.endsWith("/src/chat/chat.ts"));
        if (chat?.type !== "chunk") throw new Error("the build has no chunk for chat.ts");
        const names = [chat.fileName, ...chat.imports.filter((name) => /\/page-/.test(name))];
        return names.map((name) => ({ tag: "link", attrs: { rel: "modulepreload", crossorigin: true, href: `/${name}` }, injectTo: "head" as const }));
      },
    },
  };
}

/** Writes the list of files to cache into the service worker: all but Mermaid, which is larger than the rest. */
export function serviceWorkerFiles(): Plugin {
  return {
    name: "service-worker-files",
    apply: "build",
    writeBundle: ({ dir = "" }, bundle) => {
      const assets = Object.keys(bundle).filter((name) => name.startsWith("assets/") && !name.startsWith("assets/mermaid"));
      const files = ["/", "/theatre.html", "/icon.svg", "/manifest.webmanifest", ...assets.sort().map((name) => `/${name}`)];
      const name = createHash("sha256").update(files.join()).digest("hex").slice(0, 16);
      const worker = join(dir, "sw.js");
      const source = readFileSync(worker, "utf8");
      const filled = source.replace('{ name: "none", files: [] }', JSON.stringify({ name, files }));
      if (filled === source) throw new Error("sw.js has no placeholder for its files");
      writeFileSync(worker, filled);
    },
  };
}

/** Compresses text files at build time; the gateway serves the result. */
export function precompress(): Plugin {
  return {
    name: "precompress",
    apply: "build",
    writeBundle: ({ dir = "" }) => {
      for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
        if (!/\.(m?js|css|html|svg|json|webmanifest)$/.test(name)) continue;
        const file = join(dir, name);
        const bytes = readFileSync(file);
        if (bytes.length < 512) continue;
        // The best compression is slow: only for files that every page loads.
        const isRarelyLoaded = name.endsWith(".mjs");
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: isRarelyLoaded ? 6 : 9 }));
        const quality = { [constants.BROTLI_PARAM_QUALITY]: isRarelyLoaded ? 5 : 11 };
        writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: quality }));
      }
    },
  };
}

/** Copies Mermaid as bundled by its authors: bundling its four megabytes again takes too long. */
export function copyMermaid(root: string): Plugin {
  const home = join(root, "node_modules/mermaid");
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { version: string };
  const folder = `mermaid-${version}`;
  const chunks = "chunks/mermaid.esm.min";
  return {
    name: "copy-mermaid",
    apply: "build",
    enforce: "pre",
    resolveId: (id) => (id === "mermaid" ? "\0mermaid" : undefined),
    load: (id) =>
      id === "\0mermaid"
        ? `const path = "./${folder}/mermaid.esm.min.mjs";
           export default (await import(/* @vite-ignore */ new URL(path, import.meta.url).href)).default;`
        : undefined,
    generateBundle() {
      const names = readdirSync(join(home, "dist", chunks)).filter((name) => name.endsWith(".mjs"));
      for (const name of ["mermaid.esm.min.mjs", ...names.map((name) => `${chunks}/${name}`)]) {
        const source = readFileSync(join(home, "dist", name), "utf8").replace(/\n\/\/# sourceMappingURL=.*\n?$/, "\n");
        this.emitFile({ type: "asset", fileName: `assets/${folder}/${name}`, source });
      }
    },
  };
}
