import type { Item, ToolDescription } from "@millpond/client";
import { expect, test } from "vitest";
import { en } from "../i18n/en.ts";
import { pl } from "../i18n/pl.ts";
import { changedLines, omittedTexts, toolFacts, toolHeading } from "./tool-text.ts";

function call(description: Partial<ToolDescription> | undefined, fields: Partial<Item> = {}): Item {
  const whole = description && { purpose: "other" as const, title: "Run", ...description };
  return { kind: "tool", run: "r", id: "s0", state: "done", name: "Bash", ...(whole && { description: whole }), ...fields };
}

test("a call is named by its title, in the user's language, with its server and its target", () => {
  const edit = call({ purpose: "edit", title: "Edit", target: "src/weir.rs" });
  expect(toolHeading(edit, en)).toBe("Edit src/weir.rs");
  expect(toolHeading(edit, pl)).toBe("Edycja src/weir.rs");
  expect(toolHeading(call({ purpose: "mcp", title: "open gate", server: "pond gate" }), pl)).toBe("pond gate: open gate");
  expect(toolHeading(call(undefined), en), "a call that is not described").toBe("Bash");
});

test("a title that an agent writes is shown unchanged, whatever it is", () => {
  for (const title of ["Mend the weir", "constructor", "__proto__", "toString"]) expect(toolHeading(call({ title }), pl)).toBe(title);
});

test("the exit status is said once, and not if it is 0", () => {
  expect(toolFacts(call({ purpose: "command", exit_code: 101 }), en)).toEqual(["exit status 101"]);
  for (const label of ["exit code 101", "Exit code: 101", "exited with code 101"]) {
    expect(toolFacts(call({ purpose: "command", exit_code: 101 }, { label }), en), label).toEqual(["exit status 101"]);
  }
  expect(toolFacts(call({ exit_code: -1 }, { label: "exit code -1" }), pl)).toEqual(["kod wyjścia -1"]);
  expect(toolFacts(call({ exit_code: 0 }), en)).toEqual([]);
  expect(toolFacts(call({ exit_code: 1 }, { label: "exit code 12" }), en), "another one").toEqual(["exit status 1", "exit code 12"]);
});

test("a label is shown unless it is the server that the title names", () => {
  expect(toolFacts(call({ purpose: "mcp", server: "pond gate" }, { label: "pond_gate" }), en)).toEqual([]);
  expect(toolFacts(call({ purpose: "mcp", server: "pond gate" }, { label: "timed out" }), en)).toEqual(["timed out"]);
  expect(toolFacts(call(undefined, { label: "timed out" }), en)).toEqual(["timed out"]);
});

test("counts of lists count what they leave out, or are not given", () => {
  const lines = (["same", "added", "added", "removed"] as const).map((change) => ({ change, text: "x" }));
  const diffs = [{ path: "a", change: "update" as const, lines }];
  expect(changedLines({ purpose: "edit", title: "Edit", diffs })).toEqual({ added: 2, removed: 1 });
  expect(changedLines({ purpose: "edit", title: "Edit", diffs, omitted: { diff_lines: 9 } })).toBeUndefined();
  const sources = [{ url: "https://a.test" }, { url: "https://b.test" }];
  expect(toolFacts(call({ sources, omitted: { sources: 3 } }), en)).toEqual(["5 sources"]);
  const todos = [{ text: "a", state: "done" as const }, { text: "b", state: "active" as const }];
  expect(toolFacts(call({ todos }), en)).toEqual(["1 of 2 done"]);
  expect(toolFacts(call({ todos, omitted: { todos: 1 } }), en)).toEqual([]);
  expect(omittedTexts({ purpose: "edit", title: "Edit", omitted: { diff_lines: 1, files: 2 } }, en)).toEqual(["1 more line", "2 more files"]);
});
