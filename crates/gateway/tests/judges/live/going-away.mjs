// A gateway that stops while clients read: each is told that the run was interrupted, none that it is done.
import { open, reads } from '../ai-sdk.mjs';
import { agUi } from '../ag-ui.mjs';
import { chat, chatBody, responses } from '../openai.mjs';
import { PLAY } from './held.mjs';

const TEXTS = ['I look first.'];
const INTERRUPTED = { texts: TEXTS, reply: TEXTS[0], changed: false, ending: { outcome: 'interrupted' } };

const aiSdk = (name, protocol) => async (expected, door) => {
  const { DefaultChatTransport, readUIMessageStream } = await import(name);
  const transport = new DefaultChatTransport({ api: door.url(protocol), headers: door.headers(protocol) });
  await reads(expected, await open(transport, door), readUIMessageStream);
};

export async function judgeGoingAway(report, start, sdk) {
  const cases = sdk === 'ai7' ? [aiSdk('ai7', 'ai7')] : [aiSdk('ai', 'ai6'), agUi, chat, chatBody, responses];
  await report.each(`${sdk === 'ai7' ? 'AI SDK 7' : 'All others'}, when the gateway stops`, cases, async (judge) => {
    const gateway = await start();
    const judged = judge(INTERRUPTED, gateway.door(PLAY));
    await gateway.untilHeld();
    await gateway.stop();
    await judged;
  });
}
