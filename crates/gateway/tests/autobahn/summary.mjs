// Counts what the suite says of an agent: `summary.mjs INDEX AGENT`. Cases that fail are listed; those
// of messages longer than the gateway takes are bound to fail when it is the agent, and no others are.
import { readFileSync } from 'node:fs';

const [index, agent] = process.argv.slice(2);
const cases = Object.entries(JSON.parse(readFileSync(index, 'utf8'))[agent]);
const counts = {};
for (const [, { behavior }] of cases) counts[behavior] = (counts[behavior] ?? 0) + 1;
const told = Object.entries(counts).sort().map(([behavior, count]) => `${count} ${behavior}`).join(', ');
console.log(`${agent}: ${cases.length} cases: ${told}`);
const failed = cases.filter(([, { behavior }]) => !['OK', 'NON-STRICT', 'INFORMATIONAL'].includes(behavior));
const TOO_LONG = new Set(['1.1.6', '1.1.7', '1.1.8', '1.2.6', '1.2.7', '1.2.8']);
const wrong = failed.filter(([name]) => agent !== 'gateway' || !TOO_LONG.has(name)).map(([name]) => name);
if (failed.length > 0) console.log(`${agent}: not passed: ${failed.map(([name]) => name).join(', ')}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
