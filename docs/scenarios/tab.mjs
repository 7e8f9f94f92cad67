// A tab of a browser, told what to do on standard input: `tab.mjs BASE TOKEN SESSION VIEW`.
//   until TEXT   waits until the page says so      ended   waits until the run is over
//   page         prints the page                   again   comes back with its cursor
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { Page } from '../../crates/gateway/tests/judges/live/page.mjs';

const judges = createRequire(new URL('../../crates/gateway/tests/judges/package.json', import.meta.url));
const { EventSource } = judges('eventsource');
const [base, token, session, view] = process.argv.slice(2);
const page = new Page();
const ids = [];
let [source, recovered, changed] = [undefined, undefined, () => {}];

function open() {
  const cursor = ids.length === 0 ? '' : `&cursor=${ids.at(-1)}`;
  const authorised = (url, init) =>
    fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } });
  source = new EventSource(`${base}/v1/sessions/${session}/stream?view=${view}&format=patch&from=start${cursor}`, { fetch: authorised });
  source.addEventListener('stream', ({ data }) => { recovered = JSON.parse(data).recovered; changed(); });
  source.addEventListener('message', ({ data, lastEventId }) => {
    ids.push(lastEventId);
    page.apply(JSON.parse(data));
    changed();
  });
}

const until = async (holds) => {
  while (!holds()) await new Promise((woken) => { changed = woken; });
};
const text = () => JSON.stringify(page.picture().items);

function* lines(items, indent = '') {
  for (const { kind, state, name, label, text: said, steps } of items) {
    if (state === 'withdrawn') continue;
    yield `${indent}${[kind, name, label, said].filter(Boolean).join(': ')} (${state})`;
    yield* lines(steps ?? [], `${indent}  `);
  }
}

const commands = {
  until: (words) => until(() => text().includes(words)),
  ended: () => until(() => page.ended !== undefined),
  page() {
    const picture = page.picture();
    for (const line of lines(Object.values(picture.items))) console.log(line);
    console.log(picture.ended ? `the run is ${picture.ended.outcome}` : `status: ${picture.label}`);
    console.log(`frames that came twice: ${ids.length - new Set(ids).size}`);
  },
  async again() {
    source.close();
    recovered = undefined;
    open();
    await until(() => recovered !== undefined);
    console.log(`recovered: ${recovered}`);
  },
};

open();
for await (const line of createInterface(process.stdin)) {
  const [, command, rest] = /^(\S+) ?(.*)$/.exec(line);
  await commands[command](rest);
  console.log('.');
}
process.exit();
