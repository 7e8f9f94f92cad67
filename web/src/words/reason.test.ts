import { Refused } from "@millpond/client";
import { expect, test } from "vitest";
import { en } from "./en.ts";
import { pl } from "./pl.ts";
import { Unreadable, reasonOf } from "./reason.ts";

test("what the gateway and the browser refuse is said in the reader's language", () => {
  const full = new Refused(409, "queue_full", "Too many messages wait.");
  expect(reasonOf(full, en)).toBe("Too many messages wait.");
  expect(reasonOf(full, pl)).toBe("Zbyt wiele wiadomości już czeka.");
  expect(reasonOf(new TypeError("Failed to fetch"), pl)).toBe("Brama jest nieosiągalna.");
  expect(reasonOf(new DOMException("timed out", "TimeoutError"), en)).toBe("It took too long.");
  expect(reasonOf(new Unreadable("pond.png"), pl)).toBe("Pliku pond.png nie można odczytać jako obrazu.");
  expect(reasonOf(new Refused(429, "theatre_full", "Full."), pl)).toContain("W teatrze");
  expect(reasonOf(new Refused(418, "teapot", "I am one."), pl), "what it does not know").toBe("I am one.");
});
