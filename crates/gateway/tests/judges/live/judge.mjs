// The real clients against a running gateway. `judge.mjs SCRIPTED FIXTURES [STEP]`: every STEPth stream.
import { aiSdk } from '../ai-sdk.mjs';
import { agUi } from '../ag-ui.mjs';
import { chat, chatBody, responses } from '../openai.mjs';
import { Gateway } from './gateway.mjs';
import { Report } from './report.mjs';
import { parts } from './parts.mjs';
import { judgeAiSdk } from './ai-sdk.mjs';
import { judgeAgUi } from './ag-ui.mjs';
import { judgeOpenAi } from './openai.mjs';
import { judgeGoingAway } from './going-away.mjs';

const [scripted, fixtures, step = '8', only = ''] = process.argv.slice(2);
const start = () => Gateway.start(scripted, fixtures);
const gateway = await start();
const report = new Report();
const cases = parts(fixtures, Number(step));
// Version 7 wants a newer Node than version 6; whoever calls this says which is at hand.
const versions = {
  ai: [['AI SDK 6', aiSdk('ai', 'ai6')]],
  ai7: [['AI SDK 7', aiSdk('ai7', 'ai7')], ['AI SDK 7, reading version 6', aiSdk('ai7', 'ai6')]],
};
const others = [['AG-UI', agUi], ['OpenAI chat', chat], ['OpenAI chat, whole', chatBody], ['OpenAI Responses', responses]];
const wanted = only === 'ai7' ? versions.ai7 : [...versions.ai, ...others];
for (const [title, judge] of wanted) {
  await report.each(`${title}, streams played live`, cases, async ({ part }) =>
    judge(await gateway.expected(part), gateway.door(part)));
}
await judgeAiSdk(report, gateway, only === 'ai7' ? 'ai7' : 'ai');
if (only !== 'ai7') {
  await judgeAgUi(report, gateway);
  await judgeOpenAi(report, gateway);
}
await gateway.stop();
await judgeGoingAway(report, start, only);
report.end();
