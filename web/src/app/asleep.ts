// Lines of tabs that nobody looks at: a browser has six to a gateway without TLS, for all its tabs.
// One that was hidden for a while gives its own up, and goes on from where it was when it is seen.

const ASLEEP_AFTER_MS = 10_000;

export interface Kept {
  open(): void;
  close(): void;
  refresh(silentForMs: number): void;
}

/** Keeps what `lines` names open while the page is seen. Returns how to stop that. */
export function openWhileSeen(lines: () => readonly Kept[]): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asleep = false;
  const fallAsleep = () => {
    asleep = true;
    lines().forEach((line) => line.close());
  };
  const look = () => {
    clearTimeout(timer);
    if (document.visibilityState === "hidden") timer = setTimeout(fallAsleep, ASLEEP_AFTER_MS);
    else if (asleep) {
      asleep = false;
      lines().forEach((line) => line.open());
    } else lines().forEach((line) => line.refresh(20_000));
  };
  document.addEventListener("visibilitychange", look);
  // A tab may be opened behind another.
  if (document.visibilityState === "hidden") look();
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}
