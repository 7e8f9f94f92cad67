// Builds the pages. Mermaid is left out: the answer has no diagram, and building it takes half a minute.

import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export default {
  root: here("."),
  base: "./",
  logLevel: "error",
  resolve: {
    alias: [
      { find: "mermaid", replacement: here("./nothing.ts") },
      // The name alone: Streamdown's parser uses other parts of that package.
      { find: /^entities$/, replacement: here("../../web/src/markdown/entities.ts") },
    ],
  },
  build: {
    outDir: here("./dist"),
    emptyOutDir: true,
    chunkSizeWarningLimit: 4_000,
    rollupOptions: { input: ["floor", "millpond", "streamdown"].map((page) => here(`./${page}.html`)) },
  },
};
