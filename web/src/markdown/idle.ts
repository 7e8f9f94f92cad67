// Runs work when the browser has nothing better to do.

const PATIENCE_MS = 2_000;

export function whenIdle(work: () => Promise<unknown>): void {
  // Work is an improvement: when it fails, what is shown stays.
  const run = () => void work().catch(() => undefined);
  // Safari has no idle callbacks.
  if (typeof requestIdleCallback === "function") requestIdleCallback(run, { timeout: PATIENCE_MS });
  else setTimeout(run, 50);
}
