// AG-UI: its HTTP agent, with schema, verifier and reducer.
import assert from 'node:assert/strict';
import { HttpAgent } from '@ag-ui/client';

export async function agUi(expected, door) {
  const agent = new HttpAgent({
    url: door.url('agui'),
    headers: door.headers('agui'),
    threadId: door.chat,
    initialMessages: [{ id: 'u1', role: 'user', content: door.text }],
  });
  const seen = [];
  let failure;
  const warnings = [];
  const warn = console.warn;
  console.warn = (...words) => warnings.push(words.join(' '));
  try {
    await agent.runAgent({ runId: 'r' }, {
      onEvent: ({ event }) => { seen.push(event); },
      onRunFailed: ({ error }) => { failure = error; },
    });
  } finally {
    console.warn = warn;
  }
  assert.equal(failure, undefined);
  assert.deepEqual(warnings, []);
  const last = seen.at(-1);
  const { outcome } = expected.ending;
  if (outcome === 'completed') assert.deepEqual([last.type, last.outcome.type], ['RUN_FINISHED', 'success']);
  else if (outcome === 'cancelled') assert.deepEqual([last.type, last.outcome.type], ['RUN_FINISHED', 'cancelled']);
  else assert.equal(last.type, 'RUN_ERROR');
  const ends = seen.filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR');
  assert.equal(ends.length, 1);
  const spoken = agent.messages.filter(({ role, content }) => role === 'assistant' && content);
  assert.deepEqual(spoken.map(({ content }) => content), expected.texts);
  assert.equal(agent.messages[0].id, 'u1', 'the history stays');
  const final = agent.messages.find(({ id }) => id === last.result?.messageId);
  if (last.type === 'RUN_FINISHED') assert.equal(final?.content ?? '', expected.reply ?? '');
}
