// Top-level blocks of a text, and how many of them are finished.
// Invariant: a finished block is parsed the same whatever text follows.

import type { Token } from "markdown-it";
import { isOpenFormula } from "./math.ts";

/** A top-level block: ranges of tokens and lines, ends exclusive. */
export interface Block {
  openToken: Token;
  firstToken: number;
  endToken: number;
  firstLine: number;
  endLine: number;
}

/** Tokens and lines of a text, with its blocks. */
export interface BlockIndex {
  tokens: Token[];
  blocks: Block[];
  lines: string[];
}

export function indexBlocks(source: string, tokens: Token[]): BlockIndex {
  return { tokens, blocks: topLevelBlocks(tokens), lines: source.split("\n") };
}

/** False for link definitions, which render nothing. */
export function rendersElement(block: Block): boolean {
  return block.openToken.type !== "reference_definition";
}

/** Number of leading blocks that later text cannot change. */
export function finishedBlockCount(index: BlockIndex): number {
  const { blocks } = index;
  const last = blocks.at(-1);
  const previous = blocks.at(-2);
  if (last === undefined || previous === undefined) return 0;
  return isFinishedByNext(previous, last, index) ? blocks.length - 1 : blocks.length - 2;
}

function topLevelBlocks(tokens: Token[]): Block[] {
  const blocks: Block[] = [];
  let firstToken = 0;
  tokens.forEach((token, index) => {
    if (token.level !== 0 || token.nesting > 0) return;
    const openToken = tokens[firstToken] as Token;
    const [firstLine, endLine] = openToken.map as [number, number];
    blocks.push({ openToken, firstToken, endToken: index + 1, firstLine, endLine });
    firstToken = index + 1;
  });
  return blocks;
}

function isFinishedByNext(previous: Block, next: Block, { tokens, lines }: BlockIndex): boolean {
  // Only lists and indented code continue after a blank line, and lines that could continue them are held back.
  if (lines[next.firstLine - 1]?.trim() === "") return true;
  if (isOpenFormula(next.openToken)) return false;
  // A paragraph may still become the title of the link definition above.
  if (endsInDefinition(previous, tokens) && /^(?:paragraph|heading)_open$/.test(next.openToken.type)) return false;
  return decidingLine(next) < lines.length - 1;
}

function endsInDefinition(block: Block, tokens: Token[]): boolean {
  let index = block.endToken - 1;
  while (index > block.firstToken && (tokens[index]?.nesting ?? 0) < 0) index--;
  return tokens[index]?.type === "reference_definition";
}

/** The line that determines the block's type; it must be complete before it can end the block above. */
function decidingLine(block: Block): number {
  if (block.openToken.type === "table_open") return block.firstLine + 1;
  return block.openToken.type === "math_block" ? block.endLine - 1 : block.firstLine;
}
