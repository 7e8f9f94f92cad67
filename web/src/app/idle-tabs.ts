// Pauses the connections of hidden tabs. Without TLS a browser allows six connections per origin, shared
// by all tabs.

const PAUSE_AFTER_MS = 10_000;
/** On return to a tab, a connection silent for longer than this is replaced. */
const STALE_AFTER_MS = 20_000;

/** A connection that can be closed and later resumed where it stopped. */
export interface PausableConnection {
  open(): void;
  close(): void;
  reconnect(silentForMs: number): void;
}

/**
 * Closes `connections()` when the tab has been hidden for a while, unless `staysConnected()`, and opens
 * them again when it becomes visible. Returns a function that stops this.
 */
export function pauseWhileHidden(connections: () => readonly PausableConnection[], staysConnected: () => boolean = () => false): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let paused: readonly PausableConnection[] = [];
  const pause = () => {
    if (staysConnected()) return;
    paused = connections();
    paused.forEach((connection) => connection.close());
  };
  const resume = () => {
    // A paused connection that was replaced in the meantime stays closed.
    for (const connection of connections()) {
      if (paused.includes(connection)) connection.open();
      else connection.reconnect(STALE_AFTER_MS);
    }
    paused = [];
  };
  const onVisibilityChange = () => {
    clearTimeout(timer);
    if (document.visibilityState === "hidden") timer = setTimeout(pause, PAUSE_AFTER_MS);
    else resume();
  };
  document.addEventListener("visibilitychange", onVisibilityChange);
  // A tab may be opened in the background.
  if (document.visibilityState === "hidden") onVisibilityChange();
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onVisibilityChange);
  };
}
