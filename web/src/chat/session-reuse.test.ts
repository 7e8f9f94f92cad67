import { GatewayError, type Session } from "@millpond/client";
import { expect, test } from "vitest";
import { SessionReuse } from "./session-reuse.ts";

test("a session created for a message is reused until the message is in it, or it is deleted", async () => {
  const reuse = new SessionReuse();
  let count = 0;
  const create = async () => ({ id: `s${++count}` }) as Session;
  const trySending = (send: () => Promise<boolean>) => reuse.sendIntoNewSession("m", create, send).then((session) => session?.id);
  await expect(trySending(() => Promise.reject(new TypeError("no network")))).rejects.toThrow("no network");
  expect(await trySending(async () => false)).toBeUndefined();
  expect(await trySending(async () => true)).toBe("s1");
  await expect(trySending(() => Promise.reject(new GatewayError(404, "not_found", "gone")))).rejects.toThrow("gone");
  expect(await trySending(async () => true)).toBe("s3");
});
