// A session that is the same up to a message, so that the message can be another.

import type { Gateway, Item, Session } from "@millpond/client";

export async function branchBefore(gateway: Gateway, session: string, message: Item): Promise<Session> {
  return gateway.branch(session, await headBefore(gateway, session, message));
}

/** A message that began its run is its first; one that joined it stands where the log says. */
async function headBefore(gateway: Gateway, session: string, { run, id }: Item): Promise<number> {
  const place = Number(id.slice(1));
  const joined = place === 0 ? undefined : joinedAt(await gateway.log(session), run, place);
  return joined ?? (await gateway.run(run)).first;
}

interface Logged {
  seq: number;
  run: string;
  type: string;
}

/** Where the message with this place among those of its run begins. */
export function joinedAt(log: string, run: string, place: number): number | undefined {
  const lines = log.split("\n").filter((line) => line.includes('"prompt_'));
  const records = lines.map((line) => JSON.parse(line) as Logged).filter((record) => record.run === run);
  const prompt = records.filter(({ type }) => type === "prompt_received")[place];
  if (!prompt) return undefined;
  const told = records.find(({ seq, type }) => type === "prompt_joined" && seq === prompt.seq - 1);
  return (told ?? prompt).seq;
}
