// Test data: the project's own in the engine's `tests/texts/`, and the corpus of other projects if it is there.
// Every test that reads the corpus also reads the project's own data, so that it makes its claim on any machine.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Example } from "./in-page.ts";

const OWN = join(import.meta.dirname, "../../../crates/engine/tests/texts");
const CORPUS = process.env["MILLPOND_CORPUS"] ?? join(import.meta.dirname, "../../../../shared/corpus");

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Examples of Markdown with the HTML that its specification prescribes. */
export interface ExampleSet {
  name: string;
  examples: Example[];
}

/** The project's own examples, a set per file, and those of the specifications if the corpus is there. */
export function exampleSets(): ExampleSet[] {
  const own = readdirSync(join(OWN, "markdown")).sort().map((name) => {
    const examples = readJson(join(OWN, "markdown", name)) as Omit<Example, "example">[];
    return { name, examples: examples.map((example, index) => ({ ...example, example: index + 1 })) };
  });
  const specifications = ["commonmark-spec.json", "gfm-spec.json"].map((name) => ({ name, file: join(CORPUS, "markdown", name) }));
  const present = specifications.filter(({ file }) => existsSync(file));
  return [...own, ...present.map(({ name, file }) => ({ name, examples: readJson(file) as Example[] }))];
}

/** The project's own texts that attack a page. */
export function ownPayloads(): string[] {
  return Object.values(readJson(join(OWN, "hostile-markup.json")) as Record<string, string[]>).flat();
}

/** Texts of the corpus that attack a page; none without the corpus. */
export function corpusPayloads(): string[] {
  const files = ["xss/xss-payloads-open.json", "xss/dompurify-expect.json"].map((name) => join(CORPUS, name));
  return files.filter((file) => existsSync(file)).flatMap((file) => (readJson(file) as { payload: string }[]).map(({ payload }) => payload));
}

/** All of the project's own payloads, and every `nth` of the corpus. */
export function samplePayloads(nth: number): string[] {
  return [...ownPayloads(), ...corpusPayloads().filter((_, index) => index % nth === 0)];
}
