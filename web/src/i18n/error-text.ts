// Error messages for the user, in the user's language.

import { GatewayError } from "@millpond/client";
import type { Strings } from "./strings.ts";

/** An image file that cannot be decoded; the message is its file name. */
export class UnreadableImageError extends Error {}

/** Message for any error of a request or an upload. */
export function errorText(error: unknown, strings: Strings): string {
  if (error instanceof GatewayError) return gatewayErrorText(error, strings);
  if (error instanceof UnreadableImageError) return strings.unreadableImage(error.message);
  if (error instanceof DOMException && error.name === "TimeoutError") return strings.timedOut;
  // `fetch` rejects with these if there is no response.
  if (error instanceof TypeError || error instanceof DOMException) return strings.unreachable;
  return error instanceof Error ? error.message : String(error);
}

/** Translation of a gateway error by code; the gateway's own message if there is none. */
export function gatewayErrorText({ code, message }: { code: string; message: string }, strings: Strings): string {
  return strings.gatewayErrors[code] ?? message;
}
