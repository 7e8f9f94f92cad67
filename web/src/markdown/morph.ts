// Makes shown elements equal to freshly rendered ones without touching what is already right.
// Invariant: text that only grew keeps its node, and with it a reader's selection.

import morphdom from "morphdom";

/** Says whether the shown element stays as it is, because it has been worked on since it was rendered. */
export type Keeps = (shown: Element, fresh: Element) => boolean;

/** Makes the children of `parent` that follow `after` equal to `fresh`. */
export function reconcile(parent: Element, after: Element | null, fresh: Element[], keeps: Keeps): void {
  let shown = after === null ? parent.firstElementChild : after.nextElementSibling;
  for (const element of fresh) {
    const next: Element | null = shown?.nextElementSibling ?? null;
    if (shown === null) parent.append(element);
    else if (isAlike(shown, element)) morph(shown, element, keeps);
    else shown.replaceWith(element);
    shown = next;
  }
  while (shown !== null) {
    const next: Element | null = shown.nextElementSibling;
    shown.remove();
    shown = next;
  }
}

function isAlike(shown: Element, fresh: Element): boolean {
  return shown.nodeName === fresh.nodeName && shown.classList[0] === fresh.classList[0];
}

function morph(shown: Element, fresh: Element, keeps: Keeps): void {
  morphdom(shown, fresh, {
    onBeforeElUpdated: (from, to) => {
      if (keeps(from, to)) return false;
      growTexts(from, to);
      return true;
    },
  });
}

/** Replacing a text node's data would drop a selection in it; appending does not. */
function growTexts(from: Element, to: Element): void {
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
