// Idle-time work.

const IDLE_TIMEOUT_MS = 2_000;

/** Runs `work` when the browser is idle, at the latest after a timeout; errors are ignored. */
export function whenIdle(work: () => Promise<unknown>): void {
  // Idle work is optional: if it fails, nothing changes.
  const run = () => void work().catch(() => undefined);
  // Safari has no `requestIdleCallback`.
  if (typeof requestIdleCallback === "function") requestIdleCallback(run, { timeout: IDLE_TIMEOUT_MS });
  else setTimeout(run, 50);
}
