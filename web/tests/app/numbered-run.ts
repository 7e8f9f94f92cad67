// A run of numbered words, so that lost, repeated or leaked words are detected.

/** A word of a reply. */
export const visibleWord = (n: number) => `w${String(n).padStart(3, "0")}`;
/** Words of the thinking and of tool arguments. */
const thinkingWord = (n: number) => `h${String(n).padStart(3, "0")}`;
const toolWord = (n: number) => `t${String(n).padStart(3, "0")}`;

export const FIRST_REPLY_WORDS = 40;
export const TOTAL_WORDS = 120;

function sseFrame(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function numberedWords(word: (n: number) => string, from: number, to: number): string[] {
  // With sentence and paragraph ends.
  return Array.from({ length: to - from + 1 }, (_, at) => {
    const n = from + at;
    return word(n) + (n % 20 === 0 ? ".\n\n" : n % 8 === 0 ? ". " : " ");
  });
}

/** Frames of one content block of a provider stream. */
export function contentBlock(index: number, start: object, deltas: object[]): string[] {
  return [
    sseFrame("content_block_start", { index, content_block: start }),
    ...deltas.map((delta) => sseFrame("content_block_delta", { index, delta })),
    sseFrame("content_block_stop", { index }),
  ];
}

/** Frames of one response of a provider stream. */
export function modelResponse(id: string, blocks: string[][], stop: string): string[] {
  const message = { id, type: "message", role: "assistant", model: "pond-2", content: [], usage: { input_tokens: 3, output_tokens: 1 } };
  return [
    sseFrame("message_start", { message }),
    ...blocks.flat(),
    sseFrame("message_delta", { delta: { stop_reason: stop }, usage: { output_tokens: 30 } }),
    sseFrame("message_stop", {}),
  ];
}

const thinkingBlock = (index: number, from: number, to: number) =>
  contentBlock(index, { type: "thinking", thinking: "" }, numberedWords(thinkingWord, from, to).map((thinking) => ({ type: "thinking_delta", thinking })));
const textBlock = (index: number, from: number, to: number) =>
  contentBlock(index, { type: "text", text: "" }, numberedWords(visibleWord, from, to).map((text) => ({ type: "text_delta", text })));

/** Provider stream: thinking, a reply of 40 words, a tool call; then thinking and a reply of 80 words. */
export function numberedRun(): string[] {
  const call = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
  const input = { type: "input_json_delta", partial_json: JSON.stringify({ path: numberedWords(toolWord, 1, 5).join("") }) };
  return [
    ...modelResponse("msg_a", [thinkingBlock(0, 1, 10), textBlock(1, 1, FIRST_REPLY_WORDS), contentBlock(2, call, [input])], "tool_use"),
    ...modelResponse("msg_b", [thinkingBlock(0, 11, 20), textBlock(1, FIRST_REPLY_WORDS + 1, TOTAL_WORDS)], "end_turn"),
  ];
}

/** Provider stream of one reply in one delta. */
export function singleReply(reply: string): string {
  return modelResponse("msg_r", [contentBlock(0, { type: "text", text: "" }, [{ type: "text_delta", text: reply }])], "end_turn").join("");
}
