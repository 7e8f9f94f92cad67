// Lines of tabs that nobody looks at: a browser has six to a gateway without TLS, for all its tabs.
// One that was hidden for a while gives its own up, and goes on from where it was when it is seen.

const ASLEEP_AFTER_MS = 10_000;

export interface Kept {
  open(): void;
  close(): void;
  refresh(silentForMs: number): void;
}

/**
 * Keeps what `lines` names open while the page is seen, and those that were closed then for when it is
 * seen again. Returns how to stop that.
 */
export function openWhileSeen(lines: () => readonly Kept[], staysAwake: () => boolean = () => false): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asleep: readonly Kept[] = [];
  const fallAsleep = () => {
    if (staysAwake()) return;
    asleep = lines();
    asleep.forEach((line) => line.close());
  };
  const wake = () => {
    // One that others have taken the place of meanwhile stays closed.
    for (const line of lines()) {
      if (asleep.includes(line)) line.open();
      else line.refresh(20_000);
    }
    asleep = [];
  };
  const look = () => {
    clearTimeout(timer);
    if (document.visibilityState === "hidden") timer = setTimeout(fallAsleep, ASLEEP_AFTER_MS);
    else wake();
  };
  document.addEventListener("visibilitychange", look);
  // A tab may be opened behind another.
  if (document.visibilityState === "hidden") look();
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}
