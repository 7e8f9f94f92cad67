// A real gateway whose agent plays recorded streams, and what its own API says about it.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { PLAY, SEEN } from './held.mjs';

export class Gateway {
  // `binary` is the example `scripted`; ports are those of proxies that will stand before it.
  static async start(binary, fixtures, ports = []) {
    const child = spawn(binary, [fixtures, ...ports], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [line] = await once(createInterface(child.stdout), 'line');
    return new Gateway(child, JSON.parse(line));
  }

  constructor(child, { base, token }) {
    Object.assign(this, { child, base, token, chats: 0 });
    this.port = Number(new URL(base).port);
    this.headers = { authorization: `Bearer ${token}` };
  }

  async stop() {
    const gone = once(this.child, 'exit');
    this.child.stdin.end();
    await gone;
  }

  async call(method, path, body) {
    const headers = { ...this.headers, 'content-type': 'application/json' };
    const answer = await fetch(this.base + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  async session() {
    return (await this.call('POST', '/v1/sessions', {})).id;
  }

  async records(session) {
    const answer = await fetch(`${this.base}/v1/sessions/${session}/log`, { headers: this.headers });
    return (await answer.text()).split('\n').filter(Boolean).map((line) => JSON.parse(line));
  }

  // Sends a stream in, in the pieces that `pieces` yields, and waits for its run to end.
  async ingest(session, pieces) {
    const answer = await fetch(`${this.base}/v1/ingest/auto?session=${session}`, {
      method: 'POST', headers: this.headers, body: ReadableStream.from(pieces), duplex: 'half',
    });
    if (!answer.ok) throw new Error(`ingest: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  // The one session with a run that is going: what a client of another protocol has begun.
  async going() {
    const { sessions } = await this.call('GET', '/v1/sessions');
    const going = sessions.filter(({ run }) => run !== null);
    if (going.length !== 1) throw new Error(`${going.length} runs are going`);
    return { session: going[0].id, run: going[0].run };
  }

  // Lets an agent that waits go on. One that does not wait yet hears it when it does.
  async goOn(answer = 'go') {
    const { run } = await this.going();
    await this.call('POST', `/v1/runs/${run}/asks/any/answer`, { answer });
  }

  async cancel() {
    const { run } = await this.going();
    return this.call('POST', `/v1/runs/${run}/cancel`);
  }

  // Waits until the run that waits in the middle does so.
  async untilHeld() {
    let going;
    while (going === undefined) going = await this.going().catch(() => undefined);
    await this.#read(going.session, new RegExp(SEEN));
  }

  // What the log says of a run once it has ended.
  async ended(session, run) {
    await this.#read(session, new RegExp(`"run":"${run}","outcome":.*\n\n`));
    return told(await this.records(session), run);
  }

  async #read(session, until) {
    const url = `${this.base}/v1/sessions/${session}/stream?view=latest&from=start`;
    const answer = await fetch(url, { headers: this.headers });
    let text = '';
    for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (until.test(text)) return;
    }
    throw new Error('the stream ended early');
  }

  // The same of a run of `part`, without any other client.
  async expected(part) {
    const session = await this.session();
    const message = { text: JSON.stringify(part) };
    const { run } = await this.call('POST', `/v1/sessions/${session}/messages`, message);
    return this.ended(session, run);
  }

  // The same of the run that waits in the middle, had it not waited.
  expectedOfHeld() {
    this.held ??= this.expected({ play: PLAY.play });
    return this.held;
  }

  // How a client of another protocol gets to a conversation of its own in which `part` is played.
  door(part) {
    this.chats += 1;
    const paths = { ai6: '/api/chat', ai7: '/api/chat', agui: '/agui' };
    return {
      url: (protocol) => this.base + (paths[protocol] ?? '/v1'),
      headers: (protocol) => (protocol === 'ai7' ? { ...this.headers, 'x-millpond-ai-sdk': '7' } : this.headers),
      key: this.token,
      chat: `chat-${this.chats}`,
      text: JSON.stringify(part),
    };
  }
}

// The texts and the ending of a run, read from its records.
export function told(records, run) {
  const messages = new Map();
  let ending = { outcome: 'interrupted' };
  let changed = false;
  for (const record of records.filter((record) => record.run === run)) {
    const { type } = record;
    if (type === 'message_started') messages.set(record.message, '');
    else if (type === 'text_appended') messages.set(record.message, messages.get(record.message) + record.text);
    else if (type === 'text_rewritten') {
      const known = Buffer.from(messages.get(record.message));
      changed ||= record.kept_bytes < known.length;
      messages.set(record.message, known.subarray(0, record.kept_bytes).toString() + record.text);
    } else if (type === 'withdrawn') {
      for (const gone of record.messages ?? []) changed = messages.delete(gone) || changed;
    } else if (type === 'run_ended') {
      const { outcome, stop, reason, reply, message, incomplete } = record;
      ending = { outcome, stop, reason, reply, message, incomplete };
    }
  }
  const texts = [...messages.values()].filter((text) => text !== '');
  return { texts, reply: messages.get(ending.message) ?? null, changed, ending };
}
