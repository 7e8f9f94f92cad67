// The committed types of the wire are those generated from the engine's schema of its frames.
import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";
import { expect, test } from "vitest";

const SCHEMA = new URL("../../../../docs/frames.schema.json", import.meta.url);
const TYPES = new URL("../src/wire-types.ts", import.meta.url);

const BANNER =
  "// Generated from docs/frames.schema.json: do not edit. To renew it: UPDATE=1 npx vitest run wire-types";

/** Removes everything beside a `$ref`: a described reference would become a type of its own. */
function keepOnlyReferences(schema: unknown): void {
  if (typeof schema !== "object" || schema === null) return;
  if ("$ref" in schema) {
    for (const name of Object.keys(schema)) if (name !== "$ref") delete (schema as Record<string, unknown>)[name];
    return;
  }
  if ("allOf" in schema && Array.isArray(schema.allOf) && schema.allOf.length === 1) {
    const [only] = schema.allOf;
    for (const name of Object.keys(schema)) delete (schema as Record<string, unknown>)[name];
    Object.assign(schema, only);
  }
  Object.values(schema).forEach(keepOnlyReferences);
}

test("the committed types are the generated ones", async () => {
  const schema = JSON.parse(await readFile(SCHEMA, "utf8"));
  keepOnlyReferences(schema);
  const generated = await compile(schema, "Frames", {
    additionalProperties: false,
    bannerComment: BANNER,
    style: { printWidth: 100 },
  });
  if (process.env.UPDATE) await writeFile(TYPES, generated);
  expect(await readFile(TYPES, "utf8")).toBe(generated);
});
