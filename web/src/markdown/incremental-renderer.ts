// Renders a growing text: finished blocks are not touched again; only the tail is parsed and rendered again.
// Invariant: after `finish` the elements equal those of the whole text rendered at once, however it was split. The
// cost of `append` depends on the tail and the new text, not on the finished text.

import type { Token } from "markdown-it";
import type { BlockDom } from "./block-dom.ts";
import { finishedBlockCount, indexBlocks, rendersElement, type BlockIndex } from "./blocks.ts";
import { closeLastInline } from "./close-syntax.ts";
import { isOpenFence } from "./code.ts";
import { showableLength } from "./hold-back.ts";
import { LinkDefinitions } from "./link-definitions.ts";
import { OpenFence } from "./open-fence.ts";
import type { MarkdownStrings, ParseEnv } from "./parse-env.ts";
import { parseBlocks, parseInline, renderTokens } from "./parser.ts";
import { cutGrowingBlock, exceedsCellLimit, hasBecomeLoose, type BlockCut, type PartialBlock } from "./partial-block.ts";
import { PlainTextTail } from "./plain-text-tail.ts";

/** More text may follow, or not. */
type TextState = "growing" | "final";

/** Callbacks of the renderer. */
export interface RendererHooks {
  strings: MarkdownStrings;
  /** Called with new elements before they are shown. */
  beforeShow(elements: readonly Element[]): void;
  /** Called with elements that became final. */
  onFinished(elements: Iterable<Element>): void;
}

/** What becomes final with one draw. */
interface DrawPlan {
  /** Number of blocks that become final. */
  blocks: number;
  cut: BlockCut | null;
  /** Tokens before this one are final. */
  token: number;
  /** Lines before this one are final. */
  line: number;
}

/** Renders one text into a `BlockDom`. */
export class IncrementalRenderer {
  readonly #dom: BlockDom;
  readonly #hooks: RendererHooks;
  #definitions = new LinkDefinitions();
  /** Source of the finished blocks. */
  #finishedTexts: string[] = [];
  /** Source of the unfinished blocks. */
  #tail = "";
  #partialBlock: PartialBlock | null = null;
  /** Length of `#finishedTexts` before the partial block. */
  #finishedBeforePartial = 0;
  #openFence: OpenFence | null = null;
  #plainTail: PlainTextTail | null = null;
  /** The finished text may have been parsed differently from the whole. */
  #needsFullRedraw = false;

  constructor(dom: BlockDom, hooks: RendererHooks) {
    this.#dom = dom;
    this.#hooks = hooks;
  }

  get source(): string {
    return this.#finishedTexts.join("") + this.#tail;
  }

  /** Length of the text that the browser lays out again when text is appended. */
  get openCharacters(): number {
    return this.#openFence?.characters ?? this.#tail.length;
  }

  append(text: string): void {
    if (this.#plainTail?.push(text)) this.#tail += text;
    else if (!this.#pushToFence(text)) this.#drawTail("growing");
  }

  /** Appends the last text and makes everything final. */
  finish(text: string): void {
    if (this.#pushToFence(text)) this.#finishFence();
    else this.#drawTail("final");
    if (this.#definitions.hasLateDefinition() || this.#needsFullRedraw) this.#redrawAll();
  }

  /** Forgets the text; the elements stay until the next draw replaces them. */
  reset(): void {
    this.#definitions = new LinkDefinitions();
    this.#resetState();
  }

  #resetState(): void {
    this.#dom.reopenAll();
    this.#finishedTexts = [];
    this.#tail = "";
    this.#partialBlock = null;
    this.#openFence = null;
    this.#plainTail = null;
    this.#needsFullRedraw = false;
  }

  #redrawAll(): void {
    const source = this.source;
    this.#resetState();
    this.#tail = source;
    this.#drawTail("final");
  }

  #drawTail(state: TextState): void {
    const isGrowing = state === "growing";
    const shown = isGrowing ? this.#tail.slice(0, showableLength(this.#tail)) : this.#tail;
    const draft: ParseEnv = { references: this.#definitions.draftReferences(), growing: isGrowing, strings: this.#hooks.strings };
    const source = (this.#partialBlock?.prefix ?? "") + shown;
    const index = indexBlocks(source, parseBlocks(source, draft));
    if (this.#partialBlock !== null && hasBecomeLoose(index, this.#partialBlock)) return this.#redrawPartialBlock(state);
    const plan = isGrowing ? this.#planDraw(index) : planAll(index);
    const lastInline = this.#parseInlineTokens(index, plan, draft);
    const isAllShown = shown.length === this.#tail.length;
    this.#showHtml(renderTokens(index.tokens, draft));
    this.#finishPlanned(index, plan);
    this.#plainTail = isAllShown ? PlainTextTail.find(this.#dom.lastBlock(), lastInline, shown) : null;
    if (isGrowing) this.#openFenceIfAny(index, plan);
  }

  #planDraw(index: BlockIndex): DrawPlan {
    const { blocks, tokens } = index;
    const count = finishedBlockCount(index);
    const last = blocks.at(-1);
    const isLastNext = last !== undefined && count === blocks.length - 1;
    const cut = isLastNext ? cutGrowingBlock(index, last, count === 0 ? this.#partialBlock : null) : null;
    if (cut !== null) return { blocks: count, cut, token: cut.token, line: cut.line };
    const end = blocks[count - 1];
    const line = end?.endLine ?? this.#partialBlock?.prefixLines ?? 0;
    return { blocks: count, cut, token: Math.min(end?.endToken ?? 0, tokens.length), line };
  }

  /** Parses inline content. Returns the last inline token if plain text may be appended to it without parsing. */
  #parseInlineTokens(index: BlockIndex, plan: DrawPlan, draft: ParseEnv): Token | null {
    const final = index.tokens.slice(0, plan.token);
    this.#definitions.commitDefinitions(final, draft.references);
    parseInline(final, { ...draft, references: this.#definitions.trackedReferences() });
    const lastInline = draft.growing ? closeLastInline(index, plan.token) : null;
    parseInline(index.tokens.slice(plan.token), draft);
    return lastInline;
  }

  #showHtml(html: string): void {
    const template = document.createElement("template");
    template.innerHTML = html;
    const roots = [...template.content.children];
    if (/md-(math|session-image)/.test(html)) this.#hooks.beforeShow(roots);
    this.#dom.showTail(roots, this.#partialBlock?.borrowedRows ?? 0);
  }

  /** Moves what became final from the tail to the finished text. */
  #finishPlanned({ blocks, lines }: BlockIndex, plan: DrawPlan): void {
    const prefix = this.#partialBlock?.prefix.length ?? 0;
    const end = offsetOfLine(lines, plan.line) - prefix;
    const finished = this.#dom.finishBlocks(blocks.slice(0, plan.blocks).filter(rendersElement).length);
    if (plan.blocks > 0) this.#partialBlock = null;
    if (plan.cut === null) this.#moveToFinished(end);
    else {
      finished.push(...this.#dom.finishRows(plan.cut.rows));
      const start = this.#partialBlock === null ? offsetOfLine(lines, blocks.at(-1)?.firstLine ?? 0) - prefix : 0;
      this.#setPartialBlock(plan.cut.partialBlock, start, end);
    }
    this.#hooks.onFinished(finished);
  }

  /** Sets the partial block, which begins at `start` of the tail; its rows are final up to `end`. */
  #setPartialBlock(partialBlock: PartialBlock, start: number, end: number): void {
    this.#moveToFinished(start);
    if (this.#partialBlock === null) this.#finishedBeforePartial = this.#finishedTexts.length;
    this.#moveToFinished(end - start);
    this.#partialBlock = partialBlock;
    this.#needsFullRedraw ||= exceedsCellLimit(partialBlock);
  }

  #moveToFinished(length: number): void {
    if (length > 0) this.#finishedTexts.push(this.#tail.slice(0, length));
    this.#tail = this.#tail.slice(length);
  }

  #redrawPartialBlock(state: TextState): void {
    this.#tail = this.#finishedTexts.splice(this.#finishedBeforePartial).join("") + this.#tail;
    this.#partialBlock = null;
    this.#dom.reopenRows();
    this.#drawTail(state);
  }

  /** If the last block is an open fence, later text goes directly into its code element. */
  #openFenceIfAny({ blocks, lines }: BlockIndex, plan: DrawPlan): void {
    const last = blocks.at(-1);
    if (last === undefined || plan.blocks !== blocks.length - 1 || !isOpenFence(last.openToken)) return;
    const { markup, info } = last.openToken;
    // A line with a bar may still become the heading of a table.
    const isWhole = last.firstLine + (info.includes("|") ? 1 : 0) < lines.length - 1;
    const code = this.#dom.lastBlock()?.querySelector("code");
    if (!isWhole || !code || !lines[last.firstLine]?.startsWith(markup)) return;
    const bodyStart = offsetOfLine(this.#tail.split("\n"), last.firstLine + 1 - plan.line);
    this.#openFence = new OpenFence(code, markup, this.#tail.slice(bodyStart));
    this.#moveToFinished(this.#tail.length);
  }

  /** Returns true if an open fence took all of the text; otherwise the rest is in the tail. */
  #pushToFence(text: string): boolean {
    if (this.#openFence === null) {
      this.#tail += text;
      return false;
    }
    const rest = this.#openFence.push(text);
    this.#finishedTexts.push(text.slice(0, text.length - (rest?.length ?? 0)));
    if (rest === null) return true;
    this.#endFence();
    this.#tail = rest;
    return false;
  }

  #finishFence(): void {
    this.#openFence?.finish();
    this.#endFence();
  }

  #endFence(): void {
    this.#openFence = null;
    this.#hooks.onFinished(this.#dom.finishBlocks(1));
  }
}

/** Plan that makes everything final. */
function planAll({ tokens, blocks, lines }: BlockIndex): DrawPlan {
  return { blocks: blocks.length, cut: null, token: tokens.length, line: lines.length };
}

function offsetOfLine(lines: string[], line: number): number {
  let offset = 0;
  for (const text of lines.slice(0, Math.max(0, line))) offset += text.length + 1;
  return offset;
}
