import { GatewayError } from "@millpond/client";
import { expect, test } from "vitest";
import { en } from "./en.ts";
import { pl } from "./pl.ts";
import { UnreadableImageError, errorText } from "./error-text.ts";

test("errors of the gateway and the browser are translated", () => {
  const queueFull = new GatewayError(409, "queue_full", "The queue is full.");
  expect(errorText(queueFull, en)).toBe("The queue is full.");
  expect(errorText(queueFull, pl)).toBe("Kolejka jest pełna.");
  expect(errorText(new TypeError("Failed to fetch"), pl)).toBe("Brama jest nieosiągalna.");
  expect(errorText(new DOMException("timed out", "TimeoutError"), en)).toBe("Timed out.");
  expect(errorText(new UnreadableImageError("pond.png"), pl)).toBe("Pliku pond.png nie można odczytać jako obrazu.");
  expect(errorText(new GatewayError(429, "theatre_full", "Full."), pl)).toContain("Zbyt wielu czytelników");
  expect(errorText(new GatewayError(418, "teapot", "I am a teapot."), pl), "unknown codes keep the gateway's message").toBe("I am a teapot.");
});
