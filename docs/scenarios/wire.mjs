// A line to the gateway whose port is in a file: `wire.mjs FILE` prints its own port. At every SIGUSR2 it
// dies or comes back to life. What was open when it died stays open and hears nothing any more.
import { createServer, connect } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';

const [file] = process.argv.slice(2);
let alive = true;
let open = [];

const server = createServer((client) => {
  if (!alive) return;
  const gateway = connect(Number(readFileSync(file, 'utf8')), '127.0.0.1');
  for (const [from, to] of [[client, gateway], [gateway, client]]) {
    from.pipe(to);
    from.on('error', () => to.destroy());
  }
  open.push(client, gateway);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

process.on('SIGUSR2', () => {
  alive = !alive;
  if (!alive) {
    for (const socket of open) socket.unpipe().removeAllListeners('data').pause();
    open = [];
  }
  writeFileSync(`${file}.is`, alive ? 'alive' : 'dead');
});
