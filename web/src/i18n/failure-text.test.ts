import { expect, test } from "vitest";
import { en } from "./en.ts";
import { failureParts } from "./failure-text.ts";
import { formatDuration } from "./strings.ts";
import { pl } from "./pl.ts";

test("a failure has a translated heading and the source's own reason", () => {
  expect(failureParts("Failed: 529: overloaded", en)).toEqual({ heading: "Failed", reason: "529: overloaded" });
  expect(failureParts("Refused: no", pl)).toEqual({ heading: "Odmowa", reason: "no" });
  expect(failureParts("Interrupted", pl)).toEqual({ heading: "Przerwano", reason: undefined });
  for (const text of ["Warning: hot", "constructor", ""]) expect(failureParts(text, en)).toEqual({ heading: text, reason: undefined });
});

test("a duration is said in few words", () => {
  expect([0, 40, 1234, 9_960, 12_000, 59_999, 64_000, 3_600_000, 3_720_000].map(formatDuration)).toEqual(["0s", "0s", "1.2s", "10s", "12s", "1m", "1m 4s", "1h", "1h 2m"]);
});
