// Updates shown elements to match newly rendered ones, changing only what differs.
// Invariant: a text node that only grew is kept, and with it the user's selection.

import morphdom from "morphdom";

/** True if the shown element stays as it is, because it was enhanced after rendering. */
export type ShouldKeep = (shown: Element, fresh: Element) => boolean;

/** Makes the children of `parent` after `after` equal to `fresh`. */
export function reconcileChildren(parent: Element, after: Element | null, fresh: Element[], shouldKeep: ShouldKeep): void {
  let shown = after === null ? parent.firstElementChild : after.nextElementSibling;
  for (const element of fresh) {
    const next: Element | null = shown?.nextElementSibling ?? null;
    if (shown === null) parent.append(element);
    else if (isSameKind(shown, element)) morph(shown, element, shouldKeep);
    else shown.replaceWith(element);
    shown = next;
  }
  while (shown !== null) {
    const next: Element | null = shown.nextElementSibling;
    shown.remove();
    shown = next;
  }
}

function isSameKind(shown: Element, fresh: Element): boolean {
  return shown.nodeName === fresh.nodeName && shown.classList[0] === fresh.classList[0];
}

function morph(shown: Element, fresh: Element, shouldKeep: ShouldKeep): void {
  morphdom(shown, fresh, {
    onBeforeElUpdated: (from, to) => {
      if (shouldKeep(from, to)) return false;
      appendGrownTexts(from, to);
      return true;
    },
  });
}

/** Appends to text nodes that grew. Replacing their data would drop a selection. */
function appendGrownTexts(from: Element, to: Element): void {
  let shown = from.firstChild;
  let fresh = to.firstChild;
  while (shown !== null && fresh !== null) {
    if (shown instanceof Text && fresh instanceof Text && fresh.length > shown.length) {
      if (fresh.data.startsWith(shown.data)) shown.appendData(fresh.data.slice(shown.length));
    }
    shown = shown.nextSibling;
    fresh = fresh.nextSibling;
  }
}
