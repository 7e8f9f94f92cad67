// Task lists: `- [ ] text` becomes a disabled, labelled checkbox.

import type { MarkdownIt, StateCore, Token } from "markdown-it";

const MARK = /^\[([ xX])\][ \t]+(?=\S)/;

/** markdown-it plugin. */
export function taskListPlugin(md: MarkdownIt): void {
  md.core.ruler.after("text_join", "task_list", markTasks);
  md.renderer.rules["task_open"] = (tokens, index) =>
    `<label><input type="checkbox" disabled${tokens[index]?.info === "done" ? " checked" : ""}> `;
  md.renderer.rules["task_close"] = () => "</label>";
}

function markTasks(state: StateCore): void {
  state.tokens.forEach((token, index) => {
    const item = state.tokens[index - 2];
    if (token.type !== "inline" || item?.type !== "list_item_open") return;
    if (state.tokens[index - 1]?.type !== "paragraph_open") return;
    const first = token.children?.[0];
    const mark = first?.type === "text" ? MARK.exec(first.content) : null;
    if (mark === null || first === undefined) return;
    first.content = first.content.slice(mark[0].length);
    item.attrJoin("class", "md-task");
    token.children = wrapInLabel(state, token.children ?? [], mark[1] !== " ");
  });
}

function wrapInLabel(state: StateCore, children: Token[], done: boolean): Token[] {
  const open = new state.Token("task_open", "", 0);
  open.info = done ? "done" : "";
  return [open, ...children, new state.Token("task_close", "", 0)];
}
