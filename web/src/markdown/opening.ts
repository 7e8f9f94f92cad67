// A long list or table whose first rows (or items) are finished while it still grows.
// Invariant: `prefix` makes the parser read the rest exactly as it would after the finished rows, because it begins
// the same list (same marker, same looseness) or the same table (same heading).

import type { Token } from "markdown-it";
import type { Block, Reading } from "./blocks.ts";
import { LIVE_ROWS_MAX, TABLE_CELLS_MAX } from "./limits.ts";

export interface Opening {
  prefix: string;
  prefixLines: number;
  /** Rows the prefix brings along, which are not to be shown again. */
  borrowedRows: number;
  isTightList: boolean;
  /** Empty cells of the finished rows: at least as many as the parser had to make up. */
  emptyCells: number;
}

/** Where an open list or table is cut: everything before it is finished. */
export interface Cut {
  token: number;
  line: number;
  /** Rows finished by this cut, borrowed ones not counted. */
  rows: number;
  opening: Opening;
}

export function cutOpenBlock(reading: Reading, block: Block, current: Opening | null): Cut | null {
  const rows = rowsOf(reading.tokens, block);
  // The last two stay: the next line may still belong to the last, and makes it certain that the one before is whole.
  const kept = rows.at(-2);
  const borrowed = current?.borrowedRows ?? 0;
  if (kept === undefined || rows.length - borrowed <= LIVE_ROWS_MAX) return null;
  const opening = current ?? openingOf(reading, block);
  const line = reading.tokens[kept]?.map?.[0];
  if (opening === null || line === undefined) return null;
  const emptyCells = opening.emptyCells + emptyCellsBetween(reading.tokens, rows[0] ?? kept, kept);
  return { token: kept, line, rows: rows.length - 2 - borrowed, opening: { ...opening, emptyCells } };
}

/** The parser ends a table that makes it fill in too many cells; read in pieces it would not notice. */
export function isTooHollow(opening: Opening): boolean {
  return opening.emptyCells > TABLE_CELLS_MAX;
}

/** Whether the list has become loose after some of it was finished as tight. */
export function hasLoosened({ tokens, blocks }: Reading, opening: Opening): boolean {
  const list = blocks[0];
  return opening.isTightList && list !== undefined && isTight(tokens, list) === false;
}

function rowsOf(tokens: Token[], block: Block): number[] {
  const isTable = block.opening.type === "table_open";
  const rows: number[] = [];
  for (let index = block.from; index < block.to; index++) {
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

function openingOf(reading: Reading, block: Block): Opening | null {
  switch (block.opening.type) {
    case "table_open":
      return tableOpening(reading, block);
    case "bullet_list_open":
    case "ordered_list_open":
      return listOpening(reading, block);
    default:
      return null;
  }
}

function tableOpening({ lines }: Reading, block: Block): Opening {
  const prefix = `${lines[block.first]}\n${lines[block.first + 1]}\n`;
  return { prefix, prefixLines: 2, borrowedRows: 0, isTightList: false, emptyCells: 0 };
}

function listOpening({ tokens }: Reading, block: Block): Opening | null {
  const tight = isTight(tokens, block);
  if (tight === null) return null;
  const number = block.opening.type === "ordered_list_open" ? "1" : "";
  // Four spaces put its content further in than any item of the same list can begin.
  const item = `${number}${block.opening.markup}    x\n`;
  const prefix = tight ? item : `${item}\n`;
  return { prefix, prefixLines: tight ? 1 : 2, borrowedRows: 1, isTightList: tight, emptyCells: 0 };
}

/** Null when no item has words of its own, so that it cannot be told. */
function isTight(tokens: Token[], list: Block): boolean | null {
  for (let index = list.from; index < list.to; index++) {
    const token = tokens[index] as Token;
    if (token.type === "paragraph_open" && token.level === 2) return token.hidden;
  }
  return null;
}
