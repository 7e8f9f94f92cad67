import { defineConfig } from "vite";
import { carriedMermaid, chatAtOnce, entitiesOfBrowser, keptByWorker, packed } from "./vite.plugins.ts";

/** Few files, each asked for once: what every page begins with, what shows a chat, and what is written with. */
const CORE = /\/node_modules\/(lit|lit-html|lit-element|@lit)\/|\/packages\/client\/src\/|\/src\/(focus|app\/asleep|markdown\/idle|words\/(words|en|reason))\.ts$|vite\/preload-helper/;
const PAGE = /\/node_modules\/(markdown-it|linkify-it|mdurl|punycode\.js|uc\.micro|morphdom|remend)\/|\/src\/(page|markdown)\/|\/src\/chat\/(surroundings|status)\.ts$/;
const WRITING = /\/src\/chat\/(attached|composer|draft|made|post|shown)\.ts$/;
const ON_DEMAND = /\/src\/markdown\/(formula|highlight|diagram|export)\.ts$/;

function chunkOf(id: string): string | undefined {
  if (CORE.test(id)) return "core";
  if (WRITING.test(id)) return "writing";
  return PAGE.test(id) && !ON_DEMAND.test(id) ? "page" : undefined;
}

export default defineConfig({
  base: "/",
  resolve: { conditions: ["source", "module", "browser", "development|production"] },
  build: {
    target: "es2022",
    // Small pictures in the source would be `data:` addresses, which the policy does not allow.
    assetsInlineLimit: 0,
    // What a page begins with is asked for at once. Links made by scripts would name this origin also in pages of others.
    modulePreload: { polyfill: false, resolveDependencies: (_, files, { hostType }) => (hostType === "html" ? files : []) },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4096,
    rollupOptions: {
      input: { index: "index.html", theatre: "theatre.html", embed: "src/embed.ts" },
      output: { manualChunks: chunkOf, entryFileNames: ({ name }) => (name === "embed" ? "embed.js" : "assets/[name]-[hash].js") },
    },
  },
  plugins: [carriedMermaid(import.meta.dirname), entitiesOfBrowser(import.meta.dirname), chatAtOnce(), keptByWorker(), packed()],
});
