// Builds the test page into dist-harness/markdown.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { browserEntities } from "../vite.plugins.ts";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  resolve: { conditions: ["source", "module", "browser", "development|production"] },
  logLevel: "warn",
  plugins: [browserEntities(fileURLToPath(new URL("..", import.meta.url)))],
  build: {
    outDir: fileURLToPath(new URL("../dist-harness/markdown", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    rollupOptions: { input: ["index.html", "pages.html"].map((name) => fileURLToPath(new URL(name, import.meta.url))) },
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 4_000,
    reportCompressedSize: false,
  },
});
