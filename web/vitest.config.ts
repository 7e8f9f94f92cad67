import { defineConfig } from "vitest/config";

// The client is tested as it is written, never as somebody last built it.
const conditions = ["source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { include: ["packages/*/test/**/*.test.ts", "src/**/*.test.ts"] },
});
