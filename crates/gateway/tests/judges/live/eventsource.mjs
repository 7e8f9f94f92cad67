// The `eventsource` client through a proxy that breaks everything but the order of bytes.
import { EventSource } from 'eventsource';
import { NAMES, isEnding, query } from './frames.mjs';

// Reads a stream until so many runs have ended. The client comes back by itself, with the last id.
export function follow(base, gateway, session, kind, endings) {
  const found = { frames: [], hellos: [] };
  const url = `${base}/v1/sessions/${session}/stream?${query(kind)}`;
  found.done = new Promise((done, fail) => {
    const source = new EventSource(url, { fetch: (address, init) => soonAgain(address, init, gateway.headers) });
    let left = endings;
    const hear = (message) => {
      // A broken connection is an `error` too, but one without data.
      if (message.data === undefined) {
        if (source.readyState === EventSource.CLOSED) fail(new Error(`gave up: ${message.code} ${message.message}`));
        return;
      }
      const frame = { event: message.type, id: message.lastEventId, data: JSON.parse(message.data) };
      if (frame.event === 'stream') {
        found.hellos.push(frame.data);
        return;
      }
      if (frame.event === 'closed') return;
      found.frames.push(frame);
      left -= isEnding(frame) ? 1 : 0;
      if (left === 0) {
        source.close();
        done(found.frames);
      }
    };
    for (const name of NAMES) source.addEventListener(name, hear);
  });
  return found;
}

// The client waits seconds before it comes back, unless the stream tells it not to.
async function soonAgain(address, init, headers) {
  const answer = await fetch(address, { ...init, headers: { ...init.headers, ...headers } });
  if (answer.body === null || !answer.ok) return answer;
  const first = new TextEncoder().encode('retry:1\n\n');
  const told = new TransformStream({ start: (controller) => controller.enqueue(first) });
  const body = answer.body.pipeThrough(told);
  return new Proxied(answer, body);
}

// What the client looks at; a new `Response` would forget where it came from.
class Proxied {
  constructor(answer, body) {
    Object.assign(this, { body, status: answer.status, url: answer.url, redirected: answer.redirected, headers: answer.headers });
  }
}
