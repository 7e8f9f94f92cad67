import { defineConfig } from "vite";
import { carriedMermaid, keptByWorker, packed } from "./vite.plugins.ts";

export default defineConfig({
  base: "/",
  resolve: { conditions: ["source", "module", "browser", "development|production"] },
  build: {
    target: "es2022",
    // Small pictures in the source would be `data:` addresses, which the policy does not allow.
    assetsInlineLimit: 0,
    // Links to what comes next would name this origin also in pages of others.
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4096,
    rollupOptions: {
      input: { index: "index.html", theatre: "theatre.html", embed: "src/embed.ts" },
      output: { entryFileNames: ({ name }) => (name === "embed" ? "embed.js" : "assets/[name]-[hash].js") },
    },
  },
  plugins: [carriedMermaid(import.meta.dirname), keptByWorker(), packed()],
});
