// The `ws` client, which has to come back by itself: with the cursor of the last frame it got.
import WebSocket from 'ws';
import { isEnding, query } from './frames.mjs';

export function follow(base, gateway, session, kind, endings, cursor) {
  const found = { frames: [], hellos: [] };
  found.done = new Promise((done, fail) => {
    let left = endings;
    const open = () => {
      const last = found.frames.at(-1)?.id ?? cursor;
      const at = last === undefined ? '' : `&cursor=${encodeURIComponent(last)}`;
      const url = `${base.replace('http', 'ws')}/v1/ws?session=${session}&${query(kind)}${at}`;
      const socket = new WebSocket(url, { headers: gateway.headers });
      socket.on('message', (text) => {
        for (const line of text.toString().split('\n').filter(Boolean)) {
          const frame = JSON.parse(line);
          if (frame.event === 'stream') found.hellos.push(frame.data);
          else if (frame.id !== undefined) {
            found.frames.push({ event: frame.event ?? 'message', id: frame.id, data: frame.data });
            left -= isEnding(frame) ? 1 : 0;
          }
        }
        if (left === 0) socket.terminate();
      });
      socket.on('unexpected-response', (_, answer) => fail(new Error(`refused: ${answer.statusCode}`)));
      // A broken connection; it is closed next.
      socket.on('error', () => {});
      socket.on('close', () => (left === 0 ? done(found.frames) : setImmediate(open)));
    };
    open();
  });
  return found;
}
