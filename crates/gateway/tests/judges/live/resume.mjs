// Leaving and coming back, with the real clients: `resume.mjs SCRIPTED FIXTURES [SEED] [ROUNDS]`.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import WebSocket from 'ws';
import { AfterFrame, Proxy, Straight, Wild, chance } from './chaos.mjs';
import { follow as followEvents } from './eventsource.mjs';
import { follow as followSocket } from './socket.mjs';
import { KINDS, isEnding, pictureOf, query, sameStream, textsOf, textsOn } from './frames.mjs';
import { Gateway } from './gateway.mjs';
import { Report } from './report.mjs';

const [scripted, fixtures, seed = '1', rounds = '3'] = process.argv.slice(2);
const proxy = await Proxy.listen();
const gateway = await Gateway.start(scripted, fixtures, [proxy.port]);
proxy.to = gateway.port;
const broken = `http://127.0.0.1:${proxy.port}`;
const report = new Report();
const TRANSPORTS = { eventsource: followEvents, ws: followSocket };

const snapshot = async (session, kind) =>
  (await gateway.call('GET', `/v1/sessions/${session}/snapshot?${query(kind)}`)).data.page;

// What a reader has at the end is what a reader that comes only then is given.
async function samePage(session, kind, frames) {
  const picture = await snapshot(session, kind);
  if (kind.format === 'patch') assert.deepEqual(pictureOf(frames), picture);
  else assert.deepEqual(textsOf(kind.view, frames), textsOn(picture));
}

// Streams of several providers, and a long answer in small pieces with everything that may break.
function* runs(random) {
  const played = ['claude-code/partial-messages.jsonl', 'openai-responses/thinking-text-tool.sse', 'anthropic/cut-off.sse',
    'claude-code/thinking-four-tools-and-text-between.jsonl'];
  for (const play of played) yield readFileSync(join(fixtures, play));
  const words = ['Ein ', 'Müller ', '水車。', 'mills\n\n', 'id: 7\n', 'data: x\n\n', '`code` ', '🦆', 'a sentence. ', '# Head\n'];
  let text = '';
  for (let at = 0; at < 200; at += 1) {
    const content = words[Math.floor(random() * words.length)];
    text += `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })}\n\n`;
  }
  const stop = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  yield Buffer.from(`${text}data: ${JSON.stringify(stop)}\n\ndata: [DONE]\n\n`);
}

// Pieces that fall anywhere, with pauses, so that readers see them come.
async function* slowly(bytes, random) {
  for (let at = 0; at < bytes.length;) {
    const size = 1 + Math.floor(random() * 400);
    yield bytes.subarray(at, at + size);
    at += size;
    await new Promise((later) => setTimeout(later, Math.floor(random() * 12)));
  }
}

async function throughTheProxy(round) {
  const random = chance(Number(seed) * 1000 + round);
  const session = await gateway.session();
  const all = [...runs(random)];
  const before = proxy.cuts;
  proxy.plan = () => new Wild(random);
  const readers = Object.entries(TRANSPORTS).flatMap(([transport, follow]) =>
    KINDS.map((kind) => ({ transport, kind, found: follow(broken, gateway, session, kind, all.length) })));
  for (const bytes of all) await gateway.ingest(session, slowly(bytes, random));
  const cases = readers.map(({ transport, kind, found }) => ({ name: `${transport} ${query(kind)}`, kind, found }));
  await report.each(`round ${round}, readers through a proxy that breaks`, cases, async ({ kind, found }) => {
    const frames = await found.done;
    const whole = await followEvents(gateway.base, gateway, session, kind, all.length).done;
    sameStream(kind, frames, whole);
    await samePage(session, kind, frames);
    assert.ok(found.hellos.every(({ recovered }) => recovered), 'every cursor was good');
  });
  await report.check('the proxy', () => assert.ok(proxy.cuts - before > 5 * KINDS.length, 'it has cut little'));
}

// A short run with everything in it, and all of its frames.
async function shortSession() {
  const session = await gateway.session();
  const text = JSON.stringify({ play: 'claude-code/partial-messages.jsonl' });
  const { run } = await gateway.call('POST', `/v1/sessions/${session}/messages`, { text });
  await gateway.ended(session, run);
  return session;
}

async function atEveryFrame(session) {
  await report.each('eventsource, cut at every frame and inside of it', KINDS, async (kind) => {
    const whole = await followEvents(gateway.base, gateway, session, kind, 1).done;
    for (let frame = 1; frame < whole.length; frame += 1) {
      for (const more of [0, 9]) {
        const plans = [new AfterFrame(frame, more)];
        proxy.plan = () => plans.shift() ?? new Straight();
        const before = proxy.cuts;
        const found = followEvents(broken, gateway, session, kind, 1);
        assert.deepEqual(await found.done, whole, `cut after ${frame}`);
        assert.equal(proxy.cuts, before + 1, `cut once, after ${frame}`);
        assert.deepEqual(found.hellos.map(({ recovered }) => recovered), [true]);
      }
    }
  });
}

async function atEveryCursor(session) {
  await report.each('ws, at every cursor', KINDS, async (kind) => {
    const whole = await followSocket(gateway.base, gateway, session, kind, 1).done;
    assert.deepEqual(whole, await followEvents(gateway.base, gateway, session, kind, 1).done, 'as server-sent events');
    for (const [at, { id }] of whole.entries()) {
      if (at === whole.length - 1) continue;
      const found = followSocket(gateway.base, gateway, session, kind, 1, id);
      assert.deepEqual(await found.done, whole.slice(at + 1), `after ${id}`);
      assert.deepEqual(found.hellos.map(({ recovered }) => recovered), [true]);
    }
  });
}

// The first two frames over a WebSocket.
const firstTwo = (session, kind, cursor) =>
  new Promise((done, fail) => {
    const url = `${gateway.base.replace('http', 'ws')}/v1/ws?session=${session}&${query(kind)}&cursor=${encodeURIComponent(cursor)}`;
    const socket = new WebSocket(url, { headers: gateway.headers });
    const frames = [];
    socket.on('error', fail).on('message', (text) => {
      frames.push(...text.toString().split('\n').filter(Boolean).map((line) => JSON.parse(line)));
      if (frames.length < 2) return;
      socket.terminate();
      done(frames.slice(0, 2));
    });
  });

async function atNoCursor(session) {
  const ids = await Promise.all(KINDS.map(async (kind) => (await followSocket(gateway.base, gateway, session, kind, 1).done)[3].id));
  await report.each('ws, foreign, future and expired cursors', KINDS, async (kind) => {
    const own = ids[KINDS.indexOf(kind)];
    const foreign = ids.filter((id) => id !== own);
    for (const cursor of [...foreign, `${own.slice(0, 1)}zzzz`, `${own}~7`, 'nonsense', '☃', ' ']) {
      const [hello, page] = await firstTwo(session, kind, cursor);
      assert.equal(hello.event, 'stream');
      assert.equal(hello.data.recovered, false, cursor);
      assert.equal(page.event, 'snapshot');
      assert.deepEqual(page.data.page, await snapshot(session, kind));
    }
  });
}

for (let round = 0; round < Number(rounds); round += 1) await throughTheProxy(round);
const session = await shortSession();
await atEveryFrame(session);
await atEveryCursor(session);
await atNoCursor(session);
console.log(`${proxy.cuts} cuts, seed ${seed}`);
proxy.close();
await gateway.stop();
report.end();
