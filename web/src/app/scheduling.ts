// Deferring work so that the browser can paint and handle input first.

/** Runs `work` after the next paint; at once in a hidden tab, which is not painted. */
export function afterPaint(work: () => void): void {
  if (document.visibilityState === "hidden") work();
  else requestAnimationFrame(() => setTimeout(work));
}

/** Resolves in the next task of the event loop. */
export function nextTask(): Promise<void> {
  return new Promise((next) => setTimeout(next));
}
