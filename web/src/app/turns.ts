// Work in turns, so that the browser can show and hear something in between.

/** When what was drawn has been shown; at once where nothing is. */
export function afterPaint(work: () => void): void {
  if (document.visibilityState === "hidden") work();
  else requestAnimationFrame(() => setTimeout(work));
}

export function nextTurn(): Promise<void> {
  return new Promise((next) => setTimeout(next));
}
