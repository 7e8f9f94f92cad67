// Every case of `cases.json`, read by the real clients; what they end with is compared with the log.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serve } from './server.mjs';
import { aiSdk } from './ai-sdk.mjs';
import { agUi } from './ag-ui.mjs';
import { chat, chatBody, chatFinal, responses } from './openai.mjs';

const streams = process.argv[2];
const cases = JSON.parse(await readFile(join(streams, 'cases.json'), 'utf8'));
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

let failures = 0;
for (const [title, judge] of Object.entries(judges)) {
  let passed = 0;
  for (const expected of cases) {
    try {
      await judge(expected, server.door(expected.name));
      passed += 1;
    } catch (error) {
      failures += 1;
      console.error(`${title}: ${expected.name}: ${error.message}`);
    }
  }
  console.log(`${title}: ${passed} of ${cases.length}`);
}
server.close();
process.exit(failures === 0 ? 0 : 1);
