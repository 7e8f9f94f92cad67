// Branches a session before one of its messages.

import type { GatewayClient, Item, Session } from "@millpond/client";

/** Creates a session with all records before `message`. */
export async function branchBeforeMessage(gateway: GatewayClient, session: string, message: Item): Promise<Session> {
  return gateway.branchSession(session, await logHeadBefore(gateway, session, message));
}

/** Seq of the first record of a message: the start of its run, or, for a later message of a run, found in the log. */
async function logHeadBefore(gateway: GatewayClient, session: string, { run, id }: Item): Promise<number> {
  const index = Number(id.slice(1));
  const joinedSeq = index === 0 ? undefined : findMessageSeq(await gateway.getLog(session), run, index);
  return joinedSeq ?? (await gateway.getRun(run)).first;
}

/** The fields of a log record that are needed here. */
interface LogRecord {
  seq: number;
  run: string;
  type: string;
}

/** Seq of the first record of message number `index` of a run; `prompt_joined` comes before its `prompt_received`. */
export function findMessageSeq(log: string, run: string, index: number): number | undefined {
  const lines = log.split("\n").filter((line) => line.includes('"prompt_'));
  const records = lines.map((line) => JSON.parse(line) as LogRecord).filter((record) => record.run === run);
  const prompt = records.filter(({ type }) => type === "prompt_received")[index];
  if (!prompt) return undefined;
  const joined = records.find(({ seq, type }) => type === "prompt_joined" && seq === prompt.seq - 1);
  return (joined ?? prompt).seq;
}
