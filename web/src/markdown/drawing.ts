// Draws a growing text: finished blocks stay as they are, and only the tail is read and rendered again.
// Invariant: after `complete` the elements are exactly those of the whole text drawn at once, however it was cut; the
// cost of `grow` depends on the tail and the new text, not on the text before.

import type { Token } from "markdown-it";
import { finishedCount, hasElement, readingOf, type Reading } from "./blocks.ts";
import { isOpenFence } from "./code.ts";
import { OpenFence } from "./fence.ts";
import { shownLength } from "./hold.ts";
import { mendLastWords } from "./mend.ts";
import { cutOpenBlock, hasLoosened, isTooHollow, type Cut, type Opening } from "./opening.ts";
import type { Page } from "./page.ts";
import { parseBlocks, parseWords, renderTokens } from "./parser.ts";
import { PlainEnd } from "./plain.ts";
import { Definitions } from "./references.ts";
import type { Setting, Words } from "./setting.ts";

export interface Audience {
  words: Words;
  /** Elements are about to be shown. */
  prepare(elements: readonly Element[]): void;
  /** Elements became final. */
  finished(elements: Iterable<Element>): void;
}

/** What becomes final with this draw. */
interface Plan {
  blocks: number;
  cut: Cut | null;
  /** Tokens before this one are final. */
  token: number;
  /** Lines before this one are final. */
  line: number;
}

export class Drawing {
  readonly #page: Page;
  readonly #audience: Audience;
  #definitions = new Definitions();
  #past: string[] = [];
  #tail = "";
  #opening: Opening | null = null;
  /** How much of the past came before the open list or table. */
  #pastBeforeOpening = 0;
  #fence: OpenFence | null = null;
  #plain: PlainEnd | null = null;
  #isDoubtful = false;

  constructor(page: Page, audience: Audience) {
    this.#page = page;
    this.#audience = audience;
  }

  get source(): string {
    return this.#past.join("") + this.#tail;
  }

  /** Characters of the block that is laid out again when text is added. */
  get openCharacters(): number {
    return this.#fence?.characters ?? this.#tail.length;
  }

  grow(text: string): void {
    if (this.#plain?.push(text)) this.#tail += text;
    else if (!this.#pushToFence(text)) this.#draw(true);
  }

  /** Takes the last of the text. */
  complete(text: string): void {
    if (this.#pushToFence(text)) this.#finishFence();
    else this.#draw(false);
    if (this.#definitions.cameLate() || this.#isDoubtful) this.#drawAgain();
  }

  /** Forgets the text; what is shown stays until the next draw makes it right. */
  restart(): void {
    this.#definitions = new Definitions();
    this.#rewind();
  }

  #rewind(): void {
    this.#page.rewind();
    this.#past = [];
    this.#tail = "";
    this.#opening = null;
    this.#fence = null;
    this.#plain = null;
    this.#isDoubtful = false;
  }

  #drawAgain(): void {
    const source = this.source;
    this.#rewind();
    this.#tail = source;
    this.#draw(false);
  }

  #draw(isGrowing: boolean): void {
    const shown = isGrowing ? this.#tail.slice(0, shownLength(this.#tail)) : this.#tail;
    const draft: Setting = { references: this.#definitions.draft(), growing: isGrowing, words: this.#audience.words };
    const source = (this.#opening?.prefix ?? "") + shown;
    const reading = readingOf(source, parseBlocks(source, draft));
    if (this.#opening !== null && hasLoosened(reading, this.#opening)) return this.#drawOpeningAgain(isGrowing);
    const plan = isGrowing ? this.#plan(reading) : everything(reading);
    const words = this.#parseWords(reading, plan, draft);
    const isAllShown = shown.length === this.#tail.length;
    this.#show(renderTokens(reading.tokens, draft));
    this.#settle(reading, plan);
    this.#plain = isAllShown ? PlainEnd.of(this.#page.last(), words, shown) : null;
    if (isGrowing) this.#watchFence(reading, plan);
  }

  #plan(reading: Reading): Plan {
    const { blocks, tokens } = reading;
    const count = finishedCount(reading);
    const last = blocks.at(-1);
    const isLastNext = last !== undefined && count === blocks.length - 1;
    const cut = isLastNext ? cutOpenBlock(reading, last, count === 0 ? this.#opening : null) : null;
    if (cut !== null) return { blocks: count, cut, token: cut.token, line: cut.line };
    const end = blocks[count - 1];
    const line = end?.end ?? this.#opening?.prefixLines ?? 0;
    return { blocks: count, cut, token: Math.min(end?.to ?? 0, tokens.length), line };
  }

  /** Gives back the last words, if plain text may follow them unread. */
  #parseWords(reading: Reading, plan: Plan, draft: Setting): Token | null {
    const final = reading.tokens.slice(0, plan.token);
    this.#definitions.commit(final, draft.references);
    parseWords(final, { ...draft, references: this.#definitions.watched() });
    const words = draft.growing ? mendLastWords(reading, plan.token) : null;
    parseWords(reading.tokens.slice(plan.token), draft);
    return words;
  }

  #show(html: string): void {
    const template = document.createElement("template");
    template.innerHTML = html;
    const roots = [...template.content.children];
    if (/md-(math|own)/.test(html)) this.#audience.prepare(roots);
    this.#page.show(roots, this.#opening?.borrowedRows ?? 0);
  }

  /** Moves what this draw made final from the tail to the past. */
  #settle({ blocks, lines }: Reading, plan: Plan): void {
    const prefix = this.#opening?.prefix.length ?? 0;
    const end = offsetOfLine(lines, plan.line) - prefix;
    const finished = this.#page.finishBlocks(blocks.slice(0, plan.blocks).filter(hasElement).length);
    if (plan.blocks > 0) this.#opening = null;
    if (plan.cut === null) this.#consume(end);
    else {
      finished.push(...this.#page.finishRows(plan.cut.rows));
      const start = this.#opening === null ? offsetOfLine(lines, blocks.at(-1)?.first ?? 0) - prefix : 0;
      this.#open(plan.cut.opening, start, end);
    }
    this.#audience.finished(finished);
  }

  /** The open list or table begins at `start` of the tail; up to `end` its rows are final. */
  #open(opening: Opening, start: number, end: number): void {
    this.#consume(start);
    if (this.#opening === null) this.#pastBeforeOpening = this.#past.length;
    this.#consume(end - start);
    this.#opening = opening;
    this.#isDoubtful ||= isTooHollow(opening);
  }

  #consume(length: number): void {
    if (length > 0) this.#past.push(this.#tail.slice(0, length));
    this.#tail = this.#tail.slice(length);
  }

  #drawOpeningAgain(isGrowing: boolean): void {
    this.#tail = this.#past.splice(this.#pastBeforeOpening).join("") + this.#tail;
    this.#opening = null;
    this.#page.rewindRows();
    this.#draw(isGrowing);
  }

  /** From now on the text of a fence that is left open goes straight into its code. */
  #watchFence({ blocks, lines }: Reading, plan: Plan): void {
    const last = blocks.at(-1);
    if (last === undefined || plan.blocks !== blocks.length - 1 || !isOpenFence(last.opening)) return;
    const { markup, info } = last.opening;
    // With a bar in it, the line may yet be the heading of a table.
    const isWhole = last.first + (info.includes("|") ? 1 : 0) < lines.length - 1;
    const code = this.#page.last()?.querySelector("code");
    if (!isWhole || !code || !lines[last.first]?.startsWith(markup)) return;
    const bodyStart = offsetOfLine(this.#tail.split("\n"), last.first + 1 - plan.line);
    this.#fence = new OpenFence(code, markup, this.#tail.slice(bodyStart));
    this.#consume(this.#tail.length);
  }

  /** Whether an open fence took all of the text; otherwise what is left of it is in the tail. */
  #pushToFence(text: string): boolean {
    if (this.#fence === null) {
      this.#tail += text;
      return false;
    }
    const rest = this.#fence.push(text);
    this.#past.push(text.slice(0, text.length - (rest?.length ?? 0)));
    if (rest === null) return true;
    this.#endFence();
    this.#tail = rest;
    return false;
  }

  #finishFence(): void {
    this.#fence?.finish();
    this.#endFence();
  }

  #endFence(): void {
    this.#fence = null;
    this.#audience.finished(this.#page.finishBlocks(1));
  }
}

function everything({ tokens, blocks, lines }: Reading): Plan {
  return { blocks: blocks.length, cut: null, token: tokens.length, line: lines.length };
}

function offsetOfLine(lines: string[], line: number): number {
  let offset = 0;
  for (let index = 0; index < Math.min(line, lines.length); index++) offset += (lines[index]?.length ?? 0) + 1;
  return offset;
}
