// A long list or table whose first rows (or items) are finished while it still grows.
// Invariant: with `prefix` in front, the parser reads the remaining rows exactly as after the finished ones: it starts
// the same list (same marker, same looseness) or the same table (same heading).

import type { Token } from "markdown-it";
import type { Block, BlockIndex } from "./blocks.ts";
import { LIVE_ROWS_MAX, TABLE_CELLS_MAX } from "./limits.ts";

/** A growing block with finished rows. */
export interface PartialBlock {
  /** Source that stands for the finished rows. */
  prefix: string;
  prefixLines: number;
  /** Rows in the prefix, which must not be shown. */
  borrowedRows: number;
  isTightList: boolean;
  /** Empty cells in finished rows: an upper bound of the cells the parser added. */
  emptyCells: number;
}

/** Position in a growing list or table before which everything is finished. */
export interface BlockCut {
  token: number;
  line: number;
  /** Number of rows this cut finishes, without borrowed ones. */
  rows: number;
  partialBlock: PartialBlock;
}

/** Cuts the block if it has enough unfinished rows; `current` is its state so far. */
export function cutGrowingBlock(index: BlockIndex, block: Block, current: PartialBlock | null): BlockCut | null {
  const rows = rowTokenIndexes(index.tokens, block);
  // The last two rows stay open: the next line may belong to the last, and completes the one before.
  const firstOpen = rows.at(-2);
  const borrowed = current?.borrowedRows ?? 0;
  if (firstOpen === undefined || rows.length - borrowed <= LIVE_ROWS_MAX) return null;
  const partialBlock = current ?? startPartialBlock(index, block);
  const line = index.tokens[firstOpen]?.map?.[0];
  if (partialBlock === null || line === undefined) return null;
  const emptyCells = partialBlock.emptyCells + emptyCellsBetween(index.tokens, rows[0] ?? firstOpen, firstOpen);
  return { token: firstOpen, line, rows: rows.length - 2 - borrowed, partialBlock: { ...partialBlock, emptyCells } };
}

/** True if the parser might have ended the table for too many added cells, which it cannot count across cuts. */
export function exceedsCellLimit({ emptyCells }: PartialBlock): boolean {
  return emptyCells > TABLE_CELLS_MAX;
}

/** True if a list became loose after items were finished as tight. */
export function hasBecomeLoose({ tokens, blocks }: BlockIndex, partialBlock: PartialBlock): boolean {
  const list = blocks[0];
  return partialBlock.isTightList && list !== undefined && isTightList(tokens, list) === false;
}

function rowTokenIndexes(tokens: Token[], block: Block): number[] {
  const isTable = block.openToken.type === "table_open";
  const rows: number[] = [];
  for (let index = block.firstToken; index < block.endToken; index++) {
    const { type, level } = tokens[index] as Token;
    if (isTable ? type === "tr_open" && level === 2 : type === "list_item_open" && level === 1) rows.push(index);
  }
  return isTable ? rows.slice(1) : rows;
}

function emptyCellsBetween(tokens: Token[], from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index++) {
    if (tokens[index]?.type === "td_open" && tokens[index + 1]?.content === "") count++;
  }
  return count;
}

function startPartialBlock(index: BlockIndex, block: Block): PartialBlock | null {
  switch (block.openToken.type) {
    case "table_open":
      return partialTable(index, block);
    case "bullet_list_open":
    case "ordered_list_open":
      return partialList(index, block);
    default:
      return null;
  }
}

function partialTable({ lines }: BlockIndex, block: Block): PartialBlock {
  const prefix = `${lines[block.firstLine]}\n${lines[block.firstLine + 1]}\n`;
  return { prefix, prefixLines: 2, borrowedRows: 0, isTightList: false, emptyCells: 0 };
}

function partialList({ tokens }: BlockIndex, block: Block): PartialBlock | null {
  const tight = isTightList(tokens, block);
  if (tight === null) return null;
  const number = block.openToken.type === "ordered_list_open" ? "1" : "";
  // With four spaces the content is indented deeper than any item of the same list can start.
  const item = `${number}${block.openToken.markup}    x\n`;
  const prefix = tight ? item : `${item}\n`;
  return { prefix, prefixLines: tight ? 1 : 2, borrowedRows: 1, isTightList: tight, emptyCells: 0 };
}

/** True if the list is tight; null if no item has a paragraph to tell by. */
function isTightList(tokens: Token[], list: Block): boolean | null {
  for (let index = list.firstToken; index < list.endToken; index++) {
    const token = tokens[index] as Token;
    if (token.type === "paragraph_open" && token.level === 2) return token.hidden;
  }
  return null;
}
