// AG-UI's agent against a running gateway: several runs on one thread, stopping, asking, going away.
import assert from 'node:assert/strict';
import { HttpAgent } from '@ag-ui/client';
import { PLAY, SEEN } from './held.mjs';

export async function judgeAgUi(report, gateway) {
  const cases = [goesOnWithAThread, isCancelled, leavingIsNotStopping, asks];
  await report.each('AG-UI, live', cases, (judge) => judge(gateway));
}

function agentOn(gateway, part) {
  const door = gateway.door(part);
  const agent = new HttpAgent({
    url: door.url('agui'), headers: door.headers('agui'), threadId: door.chat,
    initialMessages: [{ id: 'u1', role: 'user', content: door.text }],
  });
  return agent;
}

// Runs an agent; `seen` is told when the text that stands before the hold has come.
function run(agent, runId, onSeen = () => {}) {
  const heard = { events: [], failure: undefined };
  let seen = false;
  heard.done = agent.runAgent({ runId }, {
    onEvent: ({ event }) => {
      heard.events.push(event);
    },
    onTextMessageContentEvent: ({ textMessageBuffer, event }) => {
      if (!seen && `${textMessageBuffer}${event.delta}`.includes(SEEN)) {
        seen = true;
        onSeen();
      }
    },
    onRunFailed: ({ error }) => { heard.failure = error; },
  });
  return heard;
}

const spoken = (agent) =>
  agent.messages.filter(({ role, content }) => role === 'assistant' && content).map(({ content }) => content);

async function goesOnWithAThread(gateway) {
  const expected = await gateway.expectedOfHeld();
  const agent = agentOn(gateway, { play: PLAY.play });
  for (let turn = 1; turn < 4; turn += 1) {
    const heard = run(agent, `r${turn}`);
    await heard.done;
    assert.equal(heard.failure, undefined);
    assert.equal(heard.events.at(-1).type, 'RUN_FINISHED');
    assert.deepEqual(spoken(agent), Array(turn).fill(expected.texts).flat());
    agent.addMessage({ id: `u${turn + 1}`, role: 'user', content: JSON.stringify({ play: PLAY.play }) });
  }
  const ids = agent.messages.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, 'no two messages have one id');
}

async function isCancelled(gateway) {
  const agent = agentOn(gateway, PLAY);
  let stopping;
  const heard = run(agent, 'r', () => { stopping = gateway.cancel(); });
  await heard.done;
  await stopping;
  const last = heard.events.at(-1);
  assert.deepEqual([last.type, last.outcome.type], ['RUN_FINISHED', 'cancelled']);
  assert.match(spoken(agent).join(''), new RegExp(SEEN));
}

async function leavingIsNotStopping(gateway) {
  const expected = await gateway.expectedOfHeld();
  const agent = agentOn(gateway, PLAY);
  const heard = run(agent, 'r', () => agent.abortRun());
  await heard.done.catch(() => {});
  assert.ok(!heard.events.some(({ type }) => type === 'RUN_FINISHED'), 'leaving is no success');
  const { session, run: going } = await gateway.going();
  await gateway.goOn();
  assert.deepEqual(await gateway.ended(session, going), expected);
  // The same run, asked for again, is told from its beginning.
  const again = agentOn(gateway, PLAY);
  again.threadId = agent.threadId;
  const retold = run(again, 'r');
  await retold.done;
  assert.equal(retold.events.at(-1).type, 'RUN_FINISHED');
  assert.deepEqual(spoken(again), expected.texts);
}

async function asks(gateway) {
  const agent = agentOn(gateway, { ...PLAY, ask: 'May I go on?' });
  const customs = [];
  let answering;
  await agent.runAgent({ runId: 'r' }, {
    onCustomEvent: ({ event }) => {
      customs.push(event);
      if (event.name === 'millpond.ask') answering = gateway.goOn('by all means');
    },
  });
  await answering;
  const [ask, resolved] = ['millpond.ask', 'millpond.ask-resolved'].map((name) => customs.find((of) => of.name === name));
  assert.equal(ask.value.text, 'May I go on?');
  assert.equal(resolved.value.answer, 'by all means');
}
