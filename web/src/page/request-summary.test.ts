import { expect, test } from "vitest";

import { en } from "../i18n/en.ts";
import { requestSummary } from "./request-summary.ts";

function summary(record: object): string {
  return requestSummary({ kind: "request", run: "r1", id: "r0", state: "done", text: JSON.stringify(record) }, en);
}

test("cached tokens are said, and counted with the others where that is known", () => {
  expect(summary({ tokensIn: 12_000, tokensInTotal: 112_000, cacheReads: 100_000, tokensOut: 5 })).toBe("112,005 tokens (100,000 from cache)");
  expect(summary({ tokensIn: 999, cacheReads: 1_000, tokensOut: 1 })).toBe("1,000 tokens · 1,000 from cache");
  expect(summary({ tokensIn: 10, cacheReads: 0 })).toBe("10 tokens");
});

test("a cost has all of its digits and no others", () => {
  expect(summary({ cost: 0.00001 })).toBe("$0.00001");
  expect(summary({ cost: 0.3 })).toBe("$0.3");
  expect(summary({ cost: 20 })).toBe("$20");
  expect(summary({ cost: 0 })).toBe("$0");
});
