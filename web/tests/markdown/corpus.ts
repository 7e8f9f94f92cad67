// Reads the external test corpus; skips the test if it is missing.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";

const BESIDE_REPOSITORY = fileURLToPath(new URL("../../../../shared/corpus", import.meta.url));

export function readCorpus<T>(path: string): T[] {
  const file = join(process.env["MILLPOND_CORPUS"] ?? BESIDE_REPOSITORY, path);
  if (!existsSync(file)) {
    console.log(`skipped: ${path} not found; set MILLPOND_CORPUS to the folder of the corpus`);
    test.skip(true, "corpus absent");
  }
  return JSON.parse(readFileSync(file, "utf8")) as T[];
}
