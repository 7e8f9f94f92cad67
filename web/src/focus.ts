// Focus after a re-render.

/** True if the focused element inside `host` was removed or disabled. */
export function hasLostFocus(host: Element): boolean {
  const focused = host.querySelector(":focus");
  return focused === null || focused.matches(":disabled");
}
