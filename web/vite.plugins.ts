// What the build does beside bundling.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** In a browser, references to characters are the browser's to read. */
export function entitiesOfBrowser(root: string): Plugin {
  const file = join(root, "src/markdown/entities.ts");
  return { name: "entities-of-browser", apply: "build", enforce: "pre", resolveId: (id) => (id === "entities" ? file : undefined) };
}

/** What shows a chat is asked for with the page, and not only once the app has begun. */
export function chatAtOnce(): Plugin {
  return {
    name: "chat-at-once",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (_, { bundle = {}, filename }) => {
        if (!filename.endsWith("/index.html")) return [];
        const chat = Object.values(bundle).find((file) => file.type === "chunk" && file.facadeModuleId?.endsWith("/src/chat/chat.ts"));
        if (chat?.type !== "chunk") throw new Error("there is no chat in the build");
        const names = [chat.fileName, ...chat.imports.filter((name) => /\/page-/.test(name))];
        return names.map((name) => ({ tag: "link", attrs: { rel: "modulepreload", crossorigin: true, href: `/${name}` }, injectTo: "head" as const }));
      },
    },
  };
}

/** Tells the service worker what the app is made of: all but mermaid, which is larger than all the rest. */
export function keptByWorker(): Plugin {
  return {
    name: "kept-by-worker",
    apply: "build",
    writeBundle: ({ dir = "" }, bundle) => {
      const assets = Object.keys(bundle).filter((name) => name.startsWith("assets/") && !name.startsWith("assets/mermaid"));
      const files = ["/", "/theatre.html", "/icon.svg", "/manifest.webmanifest", ...assets.sort().map((name) => `/${name}`)];
      const name = createHash("sha256").update(files.join()).digest("hex").slice(0, 16);
      const worker = join(dir, "sw.js");
      const source = readFileSync(worker, "utf8");
      const told = source.replace('{ name: "none", files: [] }', JSON.stringify({ name, files }));
      if (told === source) throw new Error("the service worker has no place for the names of its files");
      writeFileSync(worker, told);
    },
  };
}

/** Packs what shrinks, once, here: the gateway only chooses. */
export function packed(): Plugin {
  return {
    name: "packed",
    apply: "build",
    writeBundle: ({ dir = "" }) => {
      for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
        if (!/\.(m?js|css|html|svg|json|webmanifest)$/.test(name)) continue;
        const file = join(dir, name);
        const bytes = readFileSync(file);
        if (bytes.length < 512) continue;
        // The best is slow, and worth it only for what everybody loads.
        const carried = name.endsWith(".mjs");
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: carried ? 6 : 9 }));
        const quality = { [constants.BROTLI_PARAM_QUALITY]: carried ? 5 : 11 };
        writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: quality }));
      }
    },
  };
}

/** Mermaid as its authors bundled it: bundling its four megabytes again takes longer than all else. */
export function carriedMermaid(root: string): Plugin {
  const home = join(root, "node_modules/mermaid");
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { version: string };
  const folder = `mermaid-${version}`;
  const chunks = "chunks/mermaid.esm.min";
  return {
    name: "carried-mermaid",
    apply: "build",
    enforce: "pre",
    resolveId: (id) => (id === "mermaid" ? "\0mermaid" : undefined),
    load: (id) =>
      id === "\0mermaid"
        ? `const at = "./${folder}/mermaid.esm.min.mjs";
           export default (await import(/* @vite-ignore */ new URL(at, import.meta.url).href)).default;`
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
