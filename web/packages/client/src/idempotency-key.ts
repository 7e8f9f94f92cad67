// Idempotency keys for messages that may be sent more than once.

/** Returns a random 128-bit key in hex. Works without `crypto.randomUUID`, which insecure origins do not have. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
