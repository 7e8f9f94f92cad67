// A tool call and its result as one row: the result is added to the call that is on the page.

import type { Item } from "./protocol.ts";

/** Copy of `item` with `entry` as the result of the call `call`: the item itself or a step nested in it. */
export function withResult(item: Item, call: string, entry: Item): Item {
  if (item.kind !== "steps" && item.id === call) return mergeResult(item, entry);
  const index = (item.steps ?? []).findIndex((step) => hasCall(step, call));
  if (index < 0) return item;
  return { ...item, steps: (item.steps ?? []).map((step, place) => (place === index ? withResult(step, call, entry) : step)) };
}

function hasCall(item: Item, call: string): boolean {
  return (item.kind !== "steps" && item.id === call) || (item.steps ?? []).some((step) => hasCall(step, call));
}

/** Merges the result of a call and of the calls nested in it; nested steps that are new are added. */
function mergeResult(call: Item, result: Item): Item {
  if (result.state === "withdrawn") return withdrawnCopy(call);
  const output = result.kind === "entry" ? result.text || undefined : result.result;
  const merged: Item = { ...call, state: result.state };
  if (output !== undefined) merged.result = output;
  if (result.arguments !== undefined) merged.arguments = (call.arguments ?? "") + result.arguments;
  if (result.description) merged.description = result.description;
  if (result.label !== undefined) merged.label = result.label;
  if (result.ran_for_ms !== undefined) merged.ran_for_ms = (call.ran_for_ms ?? 0) + result.ran_for_ms;
  if (result.images?.length) merged.images = [...(call.images ?? []), ...result.images];
  if (result.citations?.length) merged.citations = [...(call.citations ?? []), ...result.citations];
  if (result.steps?.length) merged.steps = mergeSteps(call.steps ?? [], result.steps);
  return merged;
}

function mergeSteps(known: readonly Item[], added: readonly Item[]): Item[] {
  const steps = [...known];
  for (const step of added) {
    const index = steps.findIndex(({ id }) => id === step.id);
    const before = steps[index];
    if (before) steps[index] = mergeResult(before, step);
    else steps.push(step);
  }
  return steps;
}

/** Copy of a withdrawn item without its content; it keeps its place on the page. */
export function withdrawnCopy(item: Item): Item {
  const { kind, run, id, round, index, at_ms, ran_for_ms, name, sort, call } = item;
  const remaining = { kind, run, id, state: "withdrawn", round, index, at_ms, ran_for_ms, name, sort, call };
  return Object.fromEntries(Object.entries(remaining).filter(([, value]) => value !== undefined)) as unknown as Item;
}
