// Every case of `cases.json`, or every STEPth, read by the real clients; what they end with is compared
// with the log. `judge.mjs STREAMS [STEP]`
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serve } from './server.mjs';
import { aiSdk } from './ai-sdk.mjs';
import { agUi } from './ag-ui.mjs';
import { chat, chatBody, chatFinal, responses } from './openai.mjs';
import { Report } from './live/report.mjs';

const [streams, step = '1'] = process.argv.slice(2);
const all = JSON.parse(await readFile(join(streams, 'cases.json'), 'utf8'));
const cases = all.filter((_, at) => at % Number(step) === 0);
const server = await serve(streams);
const judges = {
  'AI SDK 6': aiSdk('ai', 'ai6'),
  'AI SDK 7': aiSdk('ai7', 'ai7'),
  'AI SDK 7, reading version 6': aiSdk('ai7', 'ai6'),
  'AG-UI': agUi,
  'OpenAI chat': chat,
  'OpenAI chat, final only': chatFinal,
  'OpenAI chat, whole': chatBody,
  'OpenAI Responses': responses,
};

const report = new Report();
for (const [title, judge] of Object.entries(judges)) {
  await report.each(title, cases, (expected) => judge(expected, server.door(expected.name)));
}
server.close();
report.end();
