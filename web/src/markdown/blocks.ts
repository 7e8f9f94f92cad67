// The top-level blocks of a text, and which of them no further text can change.
// Invariant: `finishedCount` never counts a block that a longer text would read differently.

import type { Token } from "markdown-it";
import { isOpenFormula } from "./math.ts";

export interface Block {
  opening: Token;
  /** Its tokens: `from` up to and without `to`. */
  from: number;
  to: number;
  /** Its lines: `first` up to and without `end`. */
  first: number;
  end: number;
}

export interface Reading {
  tokens: Token[];
  blocks: Block[];
  lines: string[];
}

export function readingOf(source: string, tokens: Token[]): Reading {
  return { tokens, blocks: blocksOf(tokens), lines: source.split("\n") };
}

export function hasElement(block: Block): boolean {
  return block.opening.type !== "reference_definition";
}

export function finishedCount(reading: Reading): number {
  const { blocks } = reading;
  const last = blocks.at(-1);
  const previous = blocks.at(-2);
  if (last === undefined || previous === undefined) return 0;
  return isFinishedBy(previous, last, reading) ? blocks.length - 1 : blocks.length - 2;
}

function blocksOf(tokens: Token[]): Block[] {
  const blocks: Block[] = [];
  let from = 0;
  tokens.forEach((token, index) => {
    if (token.level !== 0 || token.nesting > 0) return;
    const opening = tokens[from] as Token;
    const [first, end] = opening.map as [number, number];
    blocks.push({ opening, from, to: index + 1, first, end });
    from = index + 1;
  });
  return blocks;
}

function isFinishedBy(previous: Block, next: Block, { tokens, lines }: Reading): boolean {
  // Only a list or indented code outlives a blank line, and a line that could still join one is held back.
  if (lines[next.first - 1]?.trim() === "") return true;
  if (isOpenFormula(next.opening)) return false;
  // What looks like a paragraph may turn out to be the title of the definition above.
  if (endsInDefinition(previous, tokens) && /^(?:paragraph|heading)_open$/.test(next.opening.type)) return false;
  return decidingLine(next) < lines.length - 1;
}

function endsInDefinition(block: Block, tokens: Token[]): boolean {
  let index = block.to - 1;
  while (index > block.from && (tokens[index]?.nesting ?? 0) < 0) index--;
  return tokens[index]?.type === "reference_definition";
}

/** The line that made the block what it is; it must be whole before it can end the block above. */
function decidingLine(block: Block): number {
  if (block.opening.type === "table_open") return block.first + 1;
  return block.opening.type === "math_block" ? block.end - 1 : block.first;
}
