// The OpenAI client against a running gateway: stopped runs, failures and what it retries by itself.
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { PLAY, SEEN } from './held.mjs';

export async function judgeOpenAi(report, gateway) {
  const cases = [
    chatIsCancelled, wholeChatIsCancelled, responseIsCancelled, failureIsNotRunAgain, wholeResponses,
    wrongKey, toolsAreNotTheClients,
  ];
  await report.each('OpenAI, live', cases, (judge) => judge(gateway));
}

const client = (gateway, options) =>
  new OpenAI({ apiKey: gateway.token, baseURL: `${gateway.base}/v1`, maxRetries: 0, ...options });
const asking = (part) => ({ model: 'pond', messages: [{ role: 'user', content: JSON.stringify(part) }] });

// Every request is a session of its own.
async function runs(gateway) {
  let [count, before] = [0, ''];
  do {
    const page = await gateway.call('GET', `/v1/sessions${before}`);
    count += page.sessions.length;
    before = page.next && `?before=${page.next}`;
  } while (before);
  return count;
}

async function chatIsCancelled(gateway) {
  const stream = await client(gateway).chat.completions.create({ ...asking(PLAY), stream: true });
  let text = '';
  let stopping;
  const reading = async () => {
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      if (text.includes(SEEN)) stopping ??= gateway.cancel();
      assert.equal(chunk.choices[0]?.finish_reason ?? null, null, 'a stopped run is no success');
    }
  };
  await assert.rejects(reading, (error) => error instanceof OpenAI.APIError && error.code === 'cancelled');
  await stopping;
}

async function wholeChatIsCancelled(gateway) {
  const asked = client(gateway).chat.completions.create(asking(PLAY));
  const refused = assert.rejects(asked, (error) => error instanceof OpenAI.APIError && error.code === 'cancelled');
  await gateway.untilHeld();
  await gateway.cancel();
  await refused;
}

async function responseIsCancelled(gateway) {
  const stream = client(gateway).responses.stream({ model: 'pond', input: JSON.stringify(PLAY) });
  let stopping;
  stream.on('response.output_text.delta', ({ snapshot }) => {
    if (snapshot.includes(SEEN)) stopping ??= gateway.cancel();
  });
  const response = await stream.finalResponse();
  await stopping;
  assert.equal(response.status, 'failed');
  assert.equal(response.error.code, 'cancelled');
}

async function failureIsNotRunAgain(gateway) {
  const before = await runs(gateway);
  const eager = client(gateway, { maxRetries: 2 });
  const part = { play: 'anthropic/cut-off.sse' };
  await assert.rejects(eager.chat.completions.create(asking(part)), (error) => error instanceof OpenAI.APIError);
  assert.equal(await runs(gateway), before + 1, 'one request, one run');
}

async function wholeResponses(gateway) {
  const expected = await gateway.expectedOfHeld();
  const good = await client(gateway).responses.create({ model: 'pond', input: JSON.stringify({ play: PLAY.play }) });
  assert.equal(good.status, 'completed');
  assert.equal(good.output_text, expected.texts.join(''));
  const parts = [{ role: 'user', content: [{ type: 'input_text', text: JSON.stringify({ play: 'anthropic/cut-off.sse' }) }] }];
  const cut = await client(gateway).responses.create({ model: 'pond', input: parts });
  assert.equal(cut.status, 'failed');
}

async function wrongKey(gateway) {
  const stranger = client(gateway, { apiKey: 'wrong' });
  await assert.rejects(stranger.chat.completions.create(asking(PLAY)), (error) =>
    error instanceof OpenAI.AuthenticationError && error.code === 'unauthorised');
  await assert.rejects(client(gateway).chat.completions.create({ model: 'pond', messages: [] }), (error) =>
    error instanceof OpenAI.BadRequestError && /no text/.test(error.message));
}

async function toolsAreNotTheClients(gateway) {
  const stream = client(gateway).chat.completions.stream(asking({ play: PLAY.play }));
  const whole = await stream.finalChatCompletion();
  assert.equal(whole.choices[0].message.tool_calls, undefined);
  assert.equal(whole.choices[0].finish_reason, 'stop');
}
