import { expect, test } from "vitest";
import { findMessageSeq } from "./branch.ts";

const LOG = [
  { seq: 0, run: "a", type: "run_started" },
  { seq: 1, run: "a", type: "prompt_received", text: "first" },
  { seq: 2, run: "a", type: "text_appended", text: '"prompt_received"' },
  { seq: 3, run: "a", type: "prompt_joined", queued: "q" },
  { seq: 4, run: "a", type: "prompt_received", text: "joined" },
  { seq: 5, run: "b", type: "run_started" },
  { seq: 6, run: "b", type: "prompt_received", text: "next" },
].map((record) => JSON.stringify(record)).join("\n");

test("a message that joined a run is branched before itself, not before the run", () => {
  expect(findMessageSeq(LOG, "a", 1)).toBe(3);
  expect(findMessageSeq(LOG, "a", 0)).toBe(1);
  expect(findMessageSeq(LOG, "b", 1)).toBeUndefined();
});
