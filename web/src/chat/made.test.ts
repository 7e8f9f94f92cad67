import { Refused, type Session } from "@millpond/client";
import { expect, test } from "vitest";
import { Made } from "./made.ts";

test("a chat that was made for a message is used again until the message is in it, or it is gone", async () => {
  const made = new Made();
  let count = 0;
  const make = async () => ({ id: `s${++count}` }) as Session;
  const fill = (send: () => Promise<boolean>) => made.fill("m", make, send).then((session) => session?.id);
  await expect(fill(() => Promise.reject(new TypeError("no network")))).rejects.toThrow("no network");
  expect(await fill(async () => false)).toBeUndefined();
  expect(await fill(async () => true)).toBe("s1");
  await expect(fill(() => Promise.reject(new Refused(404, "not_found", "gone")))).rejects.toThrow("gone");
  expect(await fill(async () => true)).toBe("s3");
});
