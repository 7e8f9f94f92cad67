// The OpenAI client: chat completions, streamed and whole, and responses.
import assert from 'node:assert/strict';
import OpenAI from 'openai';

const client = (door, protocol) =>
  new OpenAI({ apiKey: door.key, baseURL: door.url(protocol), maxRetries: 0 });
const request = ({ text }) => ({ model: 'pond', messages: [{ role: 'user', content: text }] });

function reasonOf({ ending }) {
  if (ending.outcome === 'completed') return ending.stop === 'length' ? 'length' : 'stop';
  return ending.reason === 'refused' ? 'content_filter' : null;
}

async function completion(expected, ask, content) {
  const reason = reasonOf(expected);
  if (reason === null) {
    await assert.rejects(ask, (error) => error instanceof OpenAI.APIError);
    return;
  }
  const answer = await ask();
  const [choice] = answer.choices;
  assert.equal(choice.finish_reason, choice.message.tool_calls ? 'tool_calls' : reason);
  const truth = answer.millpond?.content ?? choice.message.content ?? '';
  assert.equal(truth, content);
  if (!expected.changed) assert.equal(choice.message.content ?? '', content);
  for (const call of choice.message.tool_calls ?? []) assert.ok(call.id && call.function.name !== undefined);
}

const streamed = (door, protocol) => async () => {
  const stream = client(door, protocol).chat.completions.stream({
    ...request(door), stream_options: { include_usage: true },
  });
  const whole = await stream.finalChatCompletion();
  assert.ok(Number.isInteger(whole.usage.total_tokens));
  return whole;
};

export const chat = (expected, door) =>
  completion(expected, streamed(door, 'chat'), expected.texts.join('\n\n'));

export const chatFinal = (expected, door) =>
  completion(expected, streamed(door, 'chat-final'), expected.reply ?? '');

export const chatBody = (expected, door) =>
  completion(
    expected,
    () => client(door, 'chat-body').chat.completions.create(request(door)),
    expected.texts.join('\n\n'),
  );

export async function responses(expected, door) {
  const stream = client(door, 'responses').responses.stream({ model: 'pond', input: door.text });
  let number = 0;
  for await (const event of stream) assert.equal(event.sequence_number, number++);
  const response = await stream.finalResponse();
  const { ending } = expected;
  const cut = ending.outcome === 'completed' && ending.stop === 'length';
  const status = cut || ending.reason === 'refused' ? 'incomplete'
    : ending.outcome === 'completed' ? 'completed' : 'failed';
  assert.equal(response.status, status);
  assert.equal(response.error === null, status !== 'failed');
  assert.equal(response.output_text, expected.texts.join(''));
}
