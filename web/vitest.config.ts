import { defineConfig } from "vitest/config";

// Tests use the client's source, not its last build.
const conditions = ["source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { include: ["packages/*/test/**/*.test.ts", "src/**/*.test.ts"] },
});
