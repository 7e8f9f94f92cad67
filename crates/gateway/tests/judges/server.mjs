// A server on loopback that answers every request with the stream its path names.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export async function serve(streams) {
  const server = createServer(async (request, response) => {
    request.resume();
    const url = new URL(request.url, 'http://loopback');
    // Clients append paths of their own: the case stands in front.
    const [, name, protocol] = url.pathname.split('/').map(decodeURIComponent);
    const body = await readFile(join(streams, `${name}.${protocol}`)).catch(() => null);
    if (body === null) {
      response.writeHead(404).end();
      return;
    }
    const whole = protocol === 'chat-body';
    const failed = whole && body.includes('"error":{');
    response.writeHead(failed ? 500 : 200, {
      'content-type': whole ? 'application/json' : 'text/event-stream',
    });
    // In pieces that fall anywhere, also into characters.
    for (let at = 0; at < body.length; at += 1021) response.write(body.subarray(at, at + 1021));
    response.end();
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address();
  return {
    // How a client gets to one case; whoever asks says nothing that matters here.
    door: (name) => ({
      url: (protocol) => `http://127.0.0.1:${port}/${encodeURIComponent(name)}/${protocol}`,
      headers: () => ({}),
      key: 'none',
      chat: 'c',
      text: 'hi',
    }),
    close: () => server.close(),
  };
}
