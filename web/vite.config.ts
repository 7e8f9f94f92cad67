import { defineConfig } from "vite";
import { browserEntities, copyMermaid, precompress, preloadChat, serviceWorkerFiles } from "./vite.plugins.ts";

/** Few chunks: the code every page starts with, the code that shows a page, the code of the composer. */
const CORE_CHUNK = /\/node_modules\/(lit|lit-html|lit-element|@lit)\/|\/packages\/client\/src\/|\/src\/(focus|app\/idle-tabs|markdown\/idle|i18n\/(strings|en|error-text))\.ts$|vite\/preload-helper/;
const PAGE_CHUNK = /\/node_modules\/(markdown-it|linkify-it|mdurl|punycode\.js|uc\.micro|morphdom|remend)\/|\/src\/(page|markdown)\/|\/src\/chat\/(create-item-context|status)\.ts$/;
const COMPOSER_CHUNK = /\/src\/chat\/(text-attachment|composer|draft|session-reuse|sender|image-upload)\.ts$/;
const ON_DEMAND = /\/src\/markdown\/(formula|highlight|diagram-svg|export)\.ts$/;

function manualChunk(id: string): string | undefined {
  if (CORE_CHUNK.test(id)) return "core";
  if (COMPOSER_CHUNK.test(id)) return "composer";
  return PAGE_CHUNK.test(id) && !ON_DEMAND.test(id) ? "page" : undefined;
}

export default defineConfig({
  base: "/",
  resolve: { conditions: ["source", "module", "browser", "development|production"] },
  build: {
    target: "es2022",
    // Inlined images would be `data:` URLs, which the content security policy forbids.
    assetsInlineLimit: 0,
    // Preload links in HTML only: links made by scripts would use the wrong origin in embedding pages.
    modulePreload: { polyfill: false, resolveDependencies: (_, files, { hostType }) => (hostType === "html" ? files : []) },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4096,
    rollupOptions: {
      input: { index: "index.html", theatre: "theatre.html", embed: "src/embed.ts" },
      output: { manualChunks: manualChunk, entryFileNames: ({ name }) => (name === "embed" ? "embed.js" : "assets/[name]-[hash].js") },
    },
  },
  plugins: [copyMermaid(import.meta.dirname), browserEntities(import.meta.dirname), preloadChat(), serviceWorkerFiles(), precompress()],
});
