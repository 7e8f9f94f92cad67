// The AI SDK's transport and chat against a running gateway: leaving, coming back, stopping, asking.
import assert from 'node:assert/strict';
import { Memory, open, reads, says } from '../ai-sdk.mjs';
import { PLAY, SEEN } from './held.mjs';

export async function judgeAiSdk(report, gateway, name) {
  const sdk = await import(name);
  const bench = new Bench(gateway, sdk, name === 'ai7' ? 'ai7' : 'ai6');
  const cases = [
    reconnects, reconnectsToNothing, picksUpAfterADrop, picksUpAfterAReload, leavingIsNotStopping,
    stops, isCancelled, asks, sendsTwiceRunsOnce, regenerates,
  ];
  await report.each(`${name}, live`, cases, (judge) => judge(bench));
}

class Bench {
  constructor(gateway, sdk, protocol) {
    Object.assign(this, { gateway, sdk, protocol });
  }

  door(part = PLAY) {
    const door = this.gateway.door(part);
    const options = { api: door.url(this.protocol), headers: door.headers(this.protocol) };
    const transport = new this.sdk.DefaultChatTransport(options);
    return { ...door, options, transport };
  }

  // What `useChat` holds.
  chat(door, { transport = door.transport, messages = [] } = {}) {
    const state = new Memory();
    state.messages = messages;
    const seen = { state, finished: [] };
    class Chat extends this.sdk.AbstractChat {
      constructor() {
        super({
          id: door.chat, state, transport, onError: () => {}, onFinish: (how) => seen.finished.push(how),
        });
      }
    }
    return Object.assign(seen, { chat: new Chat() });
  }
}

// Reads parts until the text so far contains `SEEN`; gives back what was read.
async function untilSeen(reader) {
  const parts = [];
  let text = '';
  while (!text.includes(SEEN)) {
    const { value, done } = await reader.read();
    assert.ok(!done, 'the stream ended early');
    parts.push(value);
    if (value.type === 'text-delta') text += value.delta;
  }
  return parts;
}

const startOf = (parts) => parts.find(({ type }) => type === 'start').messageId;
const textOf = (message) => message.parts.filter(({ type }) => type === 'text').map(({ text }) => text).join('');

async function until(what, holds) {
  for (let tries = 0; !holds(); tries += 1) {
    assert.ok(tries < 5000, `never: ${what}`);
    await new Promise((later) => setTimeout(later, 2));
  }
}

async function reconnects(bench) {
  const expected = await bench.gateway.expectedOfHeld();
  const door = bench.door();
  const leaving = new AbortController();
  const first = (await open(door.transport, door, leaving.signal)).getReader();
  const before = await untilSeen(first);
  leaving.abort();
  const streams = await Promise.all([0, 1].map(() => door.transport.reconnectToStream({ chatId: door.chat })));
  const readers = streams.map((stream) => reads(expected, stream, bench.sdk.readUIMessageStream));
  await bench.gateway.goOn();
  for (const message of await Promise.all(readers)) assert.equal(message.id, startOf(before), 'the same message');
}

async function reconnectsToNothing(bench) {
  const door = bench.door({ play: PLAY.play });
  assert.equal(await door.transport.reconnectToStream({ chatId: door.chat }), null, 'never begun');
  const stream = await open(door.transport, door);
  for await (const _ of stream);
  assert.equal(await door.transport.reconnectToStream({ chatId: door.chat }), null, 'ended');
  assert.equal(await door.transport.reconnectToStream({ chatId: '../%2e./ü' }), null, 'odd, and never begun');
}

async function picksUpAfterADrop(bench) {
  const expected = await bench.gateway.expectedOfHeld();
  const door = bench.door();
  let drop;
  const dropping = async (url, init) => {
    const answer = await fetch(url, init);
    if (init.method !== 'POST') return answer;
    const lossy = new TransformStream({ start: (controller) => { drop = () => controller.error(new TypeError('network error')); } });
    return new Response(answer.body.pipeThrough(lossy), answer);
  };
  const transport = new bench.sdk.DefaultChatTransport({ ...door.options, fetch: dropping });
  const { chat, state, finished } = bench.chat(door, { transport });
  const sent = chat.sendMessage({ text: door.text });
  await until('text', () => state.messages.length === 2 && textOf(state.messages[1]).includes(SEEN));
  drop();
  await sent;
  assert.equal(state.status, 'error');
  assert.equal(finished[0].isDisconnect, true);
  const resumed = chat.resumeStream();
  await bench.gateway.goOn();
  await resumed;
  assert.equal(state.status, 'ready');
  assert.deepEqual(state.messages.map(({ role }) => role), ['user', 'assistant']);
  says(expected, state.messages[1]);
}

async function picksUpAfterAReload(bench) {
  const expected = await bench.gateway.expectedOfHeld();
  const door = bench.door();
  const tab = bench.chat(door);
  const sent = tab.chat.sendMessage({ text: door.text });
  await until('text', () => tab.state.messages.length === 2 && textOf(tab.state.messages[1]).includes(SEEN));
  const reloaded = bench.chat(door, { messages: [tab.state.messages[0]] });
  const resumed = reloaded.chat.resumeStream();
  await until('text', () => reloaded.state.messages.length === 2 && textOf(reloaded.state.messages[1]).includes(SEEN));
  await bench.gateway.goOn();
  await Promise.all([sent, resumed]);
  for (const { state } of [tab, reloaded]) says(expected, state.messages[1]);
  assert.equal(reloaded.state.messages[1].id, tab.state.messages[1].id);
}

async function leavingIsNotStopping(bench) {
  const expected = await bench.gateway.expectedOfHeld();
  const door = bench.door();
  const { chat, state } = bench.chat(door);
  const sent = chat.sendMessage({ text: door.text });
  await until('text', () => state.messages.length === 2 && textOf(state.messages[1]).includes(SEEN));
  await chat.stop();
  await sent;
  const { session, run } = await bench.gateway.going();
  await bench.gateway.goOn();
  assert.deepEqual(await bench.gateway.ended(session, run), expected);
}

async function stops(bench) {
  const door = bench.door();
  const other = bench.chat(door);
  const { chat, state } = bench.chat(door);
  const sent = chat.sendMessage({ text: door.text });
  await until('text', () => state.messages.length === 2 && textOf(state.messages[1]).includes(SEEN));
  const watching = other.chat.resumeStream();
  await until('text', () => other.state.messages.length === 1 && textOf(other.state.messages[0]).includes(SEEN));
  const { session, run } = await bench.gateway.going();
  await chat.stop();
  const stop = () => fetch(`${door.options.api}/${door.chat}/stream`, { method: 'DELETE', headers: door.options.headers });
  assert.equal((await stop()).status, 204);
  await Promise.all([sent, watching]);
  const ended = await bench.gateway.ended(session, run);
  assert.equal(ended.ending.outcome, 'cancelled');
  says(ended, other.state.messages[0]);
  assert.equal(other.state.messages[0].metadata.millpond.incomplete, true);
  assert.equal((await stop()).status, 204, 'nothing is left to stop');
}

async function isCancelled(bench) {
  const door = bench.door();
  const stream = await open(door.transport, door);
  const [watched, read] = stream.tee();
  await untilSeen(watched.getReader());
  const { session, run } = await bench.gateway.going();
  await bench.gateway.cancel();
  await reads(await bench.gateway.ended(session, run), read, bench.sdk.readUIMessageStream);
}

async function asks(bench) {
  const door = bench.door({ ...PLAY, ask: 'May I go on?' });
  const { chat, state } = bench.chat(door);
  const sent = chat.sendMessage({ text: door.text });
  const ask = () => state.messages[1]?.parts.find(({ type }) => type === 'data-ask');
  await until('an ask', () => ask() !== undefined);
  assert.equal(ask().data.text, 'May I go on?');
  assert.equal(ask().data.answer, undefined);
  await bench.gateway.goOn('by all means');
  await sent;
  assert.equal(ask().data.answer, 'by all means');
  assert.equal(state.status, 'ready');
}

async function sendsTwiceRunsOnce(bench) {
  const door = bench.door({ play: PLAY.play });
  const texts = [];
  for (let time = 0; time < 2; time += 1) {
    let message;
    for await (message of bench.sdk.readUIMessageStream({ stream: await open(door.transport, door) }));
    texts.push([message.id, textOf(message)]);
  }
  assert.deepEqual(texts[0], texts[1], 'a message that is sent again is the same message');
}

async function regenerates(bench) {
  const door = bench.door({ play: PLAY.play });
  const { chat, state } = bench.chat(door);
  await chat.sendMessage({ text: door.text });
  const [user, first] = state.messages;
  await chat.regenerate();
  const second = state.messages[1];
  assert.equal(state.messages.length, 2);
  assert.equal(textOf(second), textOf(first));
  assert.notEqual(second.id, first.id, 'another run');
  await chat.sendMessage({ text: JSON.stringify({ play: 'anthropic/cut-off.sse' }), messageId: user.id });
  assert.equal(state.status, 'error', 'an edited message is another message');
}
