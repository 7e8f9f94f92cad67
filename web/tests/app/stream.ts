// A run of numbered words, so that a word that is lost, doubled or leaked is seen at once.

/** Words that a person may see. */
export const said = (n: number) => `w${String(n).padStart(3, "0")}`;
/** Words that are thought, and words that are a tool's. */
const thought = (n: number) => `h${String(n).padStart(3, "0")}`;
const asked = (n: number) => `t${String(n).padStart(3, "0")}`;

export const FIRST = 40;
export const ALL = 120;

function frame(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function words(of: (n: number) => string, from: number, to: number): string[] {
  // A sentence now and then, a paragraph now and then.
  return Array.from({ length: to - from + 1 }, (_, at) => {
    const n = from + at;
    return of(n) + (n % 20 === 0 ? ".\n\n" : n % 8 === 0 ? ". " : " ");
  });
}

function block(index: number, start: object, deltas: object[]): string[] {
  return [
    frame("content_block_start", { index, content_block: start }),
    ...deltas.map((delta) => frame("content_block_delta", { index, delta })),
    frame("content_block_stop", { index }),
  ];
}

function response(id: string, blocks: string[][], stop: string): string[] {
  const message = { id, type: "message", role: "assistant", model: "pond-2", content: [], usage: { input_tokens: 3, output_tokens: 1 } };
  return [
    frame("message_start", { message }),
    ...blocks.flat(),
    frame("message_delta", { delta: { stop_reason: stop }, usage: { output_tokens: 30 } }),
    frame("message_stop", {}),
  ];
}

const thinking = (index: number, from: number, to: number) =>
  block(index, { type: "thinking", thinking: "" }, words(thought, from, to).map((thinking) => ({ type: "thinking_delta", thinking })));
const text = (index: number, from: number, to: number) =>
  block(index, { type: "text", text: "" }, words(said, from, to).map((text) => ({ type: "text_delta", text })));

/** Thinks, says forty words, calls a tool; then thinks and says eighty more. */
export function pieces(): string[] {
  const call = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
  const input = { type: "input_json_delta", partial_json: JSON.stringify({ path: words(asked, 1, 5).join("") }) };
  return [
    ...response("msg_a", [thinking(0, 1, 10), text(1, 1, FIRST), block(2, call, [input])], "tool_use"),
    ...response("msg_b", [thinking(0, 11, 20), text(1, FIRST + 1, ALL)], "end_turn"),
  ];
}

/** One answer, in one piece. */
export function reply(said: string): string {
  return response("msg_r", [block(0, { type: "text", text: "" }, [{ type: "text_delta", text: said }])], "end_turn").join("");
}
