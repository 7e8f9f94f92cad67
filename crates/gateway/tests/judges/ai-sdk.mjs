// The AI SDK: its transport, its reader, and its chat, which is what `useChat` holds.
import assert from 'node:assert/strict';

export class Memory {
  status = 'ready';
  error = undefined;
  messages = [];
  pushMessage = (message) => { this.messages = [...this.messages, message]; };
  popMessage = () => { this.messages = this.messages.slice(0, -1); };
  replaceMessage = (index, message) => {
    this.messages = this.messages.map((known, at) => (at === index ? message : known));
  };
  snapshot = (value) => structuredClone(value);
}

export const aiSdk = (name, protocol) => async (expected, door) => {
  const { AbstractChat, DefaultChatTransport, readUIMessageStream } = await import(name);
  const transport = new DefaultChatTransport({ api: door.url(protocol), headers: door.headers(protocol) });
  await reads(expected, await open(transport, door), readUIMessageStream);
  await chats(expected, transport, AbstractChat, door);
};

export const open = (transport, { chat, text }, abortSignal) =>
  transport.sendMessages({
    chatId: chat, trigger: 'submit-message', messageId: undefined, abortSignal,
    messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text }] }],
  });

export async function reads(expected, stream, readUIMessageStream) {
  const ends = [];
  const watched = stream.pipeThrough(new TransformStream({
    transform(chunk, controller) {
      if (['finish', 'abort', 'error'].includes(chunk.type)) ends.push(chunk.type);
      controller.enqueue(chunk);
    },
  }));
  const errors = [];
  let message;
  const onError = (error) => errors.push(error.message);
  for await (const snapshot of readUIMessageStream({ stream: watched, onError })) message = snapshot;
  const { outcome } = expected.ending;
  const end = { completed: 'finish', cancelled: 'abort' }[outcome] ?? 'error';
  assert.deepEqual(ends, [end]);
  assert.equal(errors.length, end === 'error' ? 1 : 0, errors.join('; '));
  says(expected, message);
  return message;
}

async function chats(expected, transport, AbstractChat, door) {
  const state = new Memory();
  let finished;
  const calls = [];
  class Chat extends AbstractChat {
    constructor() {
      super({
        id: door.chat, state, transport, onError: () => {},
        onToolCall: ({ toolCall }) => calls.push(toolCall.toolName),
        onFinish: (how) => { finished = how; },
      });
    }
  }
  await new Chat().sendMessage({ text: door.text });
  const { outcome } = expected.ending;
  const fails = outcome !== 'completed' && outcome !== 'cancelled';
  assert.equal(state.status, fails ? 'error' : 'ready', `status with ${outcome}: ${state.error}`);
  assert.equal(finished.isError, fails);
  assert.deepEqual(calls, [], 'no tool is the browser\'s to run');
  says(expected, state.messages.at(-1));
}

// Parts that were taken back are named in the metadata; all others are what the log says.
export function says(expected, message) {
  const facts = message.metadata.millpond;
  const withdrawn = new Set(facts.withdrawn ?? []);
  const parts = message.parts.filter((part) => part.type === 'text' && part.text !== '');
  const standing = parts.filter((part) => !withdrawn.has(part.providerMetadata.millpond.id));
  assert.deepEqual(standing.map((part) => part.text), expected.texts);
  assert.ok(message.parts.every((part) => part.state !== 'streaming'), 'a part is left open');
  const final = standing.find((part) => part.providerMetadata.millpond.id === facts.final);
  assert.equal(final?.text ?? '', expected.reply ?? '');
  const waiting = message.parts.some((part) =>
    ['input-streaming', 'input-available', 'approval-requested'].includes(part.state));
  assert.ok(!waiting || expected.ending.outcome === 'completed', 'a tool is left running');
}
