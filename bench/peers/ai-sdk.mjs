// The AI SDK's server path: a provider's bytes in, bytes of a UI message response out.
//   node ai-sdk.mjs FOLDER DELTAS REPEATS chat|responses|anthropic
import { readFileSync } from 'node:fs';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { jsonSchema, streamText, tool } from 'ai';

const [folder, deltas, repeats, stream] = process.argv.slice(2);
const read = (count) => readFileSync(`${folder}/${stream}_${count}.sse`);
const CHUNK_BYTES = 16 << 10;

let bytes = read(1000);
// Stands in for the network.
const fetch = async () => {
  let at = 0;
  const body = new ReadableStream({
    pull(to) {
      if (at >= bytes.length) return to.close();
      to.enqueue(new Uint8Array(bytes.subarray(at, (at += CHUNK_BYTES))));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
};

const openai = createOpenAI({ apiKey: 'none', fetch });
const model = {
  chat: () => openai.chat('gpt-5'),
  responses: () => openai.responses('gpt-5'),
  anthropic: () => createAnthropic({ apiKey: 'none', fetch })('claude-sonnet-4-5'),
}[stream]();
const sum = tool({
  inputSchema: jsonSchema({
    type: 'object',
    properties: { list: { type: 'array', items: { type: 'number' } } },
  }),
});

const troubles = [];
async function once() {
  const start = process.cpuUsage();
  const result = streamText({
    model,
    prompt: 'Go.',
    tools: { sum },
    onError: ({ error }) => troubles.push(String(error)),
  });
  const out = [];
  for await (const chunk of result.toUIMessageStreamResponse().body) out.push(chunk);
  const { user, system } = process.cpuUsage(start);
  return { cpu: (user + system) / 1e6, out };
}

// Counted after the clock has stopped, and from the bytes that a browser would get.
function characters(out) {
  let count = 0;
  for (const line of Buffer.concat(out).toString().split('\n')) {
    if (!line.startsWith('data: {')) continue;
    const part = JSON.parse(line.slice(6));
    if (part.type === 'text-delta') count += [...part.delta].length;
    if (part.type === 'error') troubles.push(part.errorText);
  }
  return count;
}

for (let i = 0; i < 5; i++) await once(); // warm-up, for the compiler
bytes = read(deltas);
let best;
for (let i = 0; i < repeats; i++) {
  const run = await once();
  if (!best || run.cpu < best.cpu) best = run;
}
const chars = characters(best.out);
// An error frame costs more than a delta: the figure would not be the peer's own.
const note = troubles.length ? `${troubles.length} errors: ${troubles[0].slice(0, 80)}` : '';
console.log(JSON.stringify({ peer: 'AI SDK server', stream, cpu: best.cpu, chars, note }));
