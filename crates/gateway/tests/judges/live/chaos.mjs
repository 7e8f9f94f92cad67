// A proxy that cuts, delays, splits and merges what a server says, by a seed.
import { createServer, connect } from 'node:net';
import { once } from 'node:events';

// Numbers in [0, 1) that are the same for the same seed.
export function chance(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const soon = (ms) => (ms === 0 ? undefined : new Promise((later) => setTimeout(later, ms)));

export class Proxy {
  cuts = 0;
  // How the next connections are treated; each says after how many bytes it is cut.
  plan = () => new Straight();

  static async listen() {
    const proxy = new Proxy();
    proxy.server = createServer((client) => proxy.#pass(client));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    proxy.port = proxy.server.address().port;
    return proxy;
  }

  close() {
    this.server.close();
  }

  async #pass(client) {
    const server = connect(this.to, '127.0.0.1');
    for (const socket of [client, server]) socket.setNoDelay().on('error', () => {});
    client.on('close', () => server.destroy());
    client.pipe(server);
    // Clients open connections that they may never use.
    await once(client, 'data').catch(() => {});
    const plan = this.plan();
    for await (const chunk of rearranged(server, plan)) {
      if (client.destroyed) break;
      const left = plan.room(chunk);
      client.write(chunk.subarray(0, left));
      if (left < chunk.length || plan.isOver()) {
        this.cuts += 1;
        break;
      }
    }
    server.destroy();
    // Half of the cuts are rude: whatever is on its way is lost.
    if (plan.isRude()) client.resetAndDestroy();
    else client.end();
  }
}

// What a server says, in the pieces and with the pauses of a plan.
async function* rearranged(server, plan) {
  let [kept, over, wake] = [Buffer.alloc(0), server.destroyed, () => {}];
  server.on('data', (chunk) => { kept = Buffer.concat([kept, chunk]); wake(); });
  server.on('close', () => { over = true; wake(); });
  for (;;) {
    // What comes in the meantime goes out together.
    await soon(plan.pause());
    if (kept.length === 0 && over) return;
    if (kept.length === 0) await new Promise((woken) => { wake = woken; });
    const size = plan.size(kept.length);
    yield kept.subarray(0, size);
    kept = kept.subarray(size);
  }
}

// Passes everything on.
export class Straight {
  pause() { return 0; }
  size(kept) { return kept; }
  room(chunk) { return chunk.length; }
  isOver() { return false; }
  isRude() { return false; }
}

// Splits, merges and delays by chance, and cuts after a number of bytes that is small or large.
export class Wild extends Straight {
  constructor(random) {
    super();
    this.random = random;
    this.left = Math.floor(120 * 2 ** (8 * random()));
    this.rude = random() < 0.5;
  }

  pause() { return this.random() < 0.3 ? Math.floor(this.random() * 5) : 0; }
  size(kept) { return this.random() < 0.5 ? kept : Math.min(kept, 1 + Math.floor(this.random() * 64)); }

  room(chunk) {
    const room = Math.min(chunk.length, this.left);
    this.left -= room;
    return room;
  }

  isOver() { return this.left === 0; }
  isRude() { return this.rude; }
}

const FRAME = /(?<=\n)id:[^\n]*\n(?:event:[^\n]*\n)?data:[^\n]*\n\n/g;

// Cuts after so many server-sent events, and so many bytes of what follows.
export class AfterFrame extends Straight {
  constructor(frames, more) {
    super();
    Object.assign(this, { frames, more, seen: '', over: false });
  }

  room(chunk) {
    const before = this.seen.length;
    this.seen += chunk.toString('latin1');
    const frame = [...this.seen.matchAll(FRAME)][this.frames - 1];
    if (frame === undefined) return chunk.length;
    const end = frame.index + frame[0].length + this.more;
    if (this.seen.length < end) return chunk.length;
    this.over = true;
    return Math.max(0, end - before);
  }

  isOver() { return this.over; }
}
