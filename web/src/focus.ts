// What is drawn anew may take away what had the focus.

/** Whether the focus was in an element that is gone, or can no longer have it. */
export function hasLostFocus(host: Element): boolean {
  const focused = host.querySelector(":focus");
  return focused === null || focused.matches(":disabled");
}
