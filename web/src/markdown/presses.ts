// What the buttons in a text do: copy a block of code, show a remote picture.

import type { Surroundings } from "./stream.ts";

const COPIED_MS = 2_000;

/** Listens on the host, so that it works in a shadow root as well; gives back how to stop. */
export function handlePresses(host: Element, surroundings: Surroundings, keep: (element: Element) => void): () => void {
  const onClick = (event: Event): void => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (button === null || !host.contains(button)) return;
    if (button.classList.contains("md-image")) {
      // The picture may stand in a link, which must not be followed.
      event.preventDefault();
      showPicture(button, surroundings, keep);
    } else if (button.closest("figure.md-code") !== null) void copyCode(button, surroundings);
  };
  host.addEventListener("click", onClick);
  return () => host.removeEventListener("click", onClick);
}

function showPicture(button: HTMLElement, surroundings: Surroundings, keep: (element: Element) => void): void {
  const { src = "", alt = "" } = button.dataset;
  if (button.parentElement !== null) keep(button.parentElement);
  button.replaceWith(surroundings.remoteImage(src, alt));
}

async function copyCode(button: HTMLButtonElement, { words }: Surroundings): Promise<void> {
  const code = button.closest("figure.md-code")?.querySelector("code")?.textContent ?? "";
  // The line feed before the closing fence is not part of the code, and would run it when pasted into a shell.
  await navigator.clipboard.writeText(code.replace(/\n$/, ""));
  button.textContent = words.copied;
  setTimeout(() => (button.textContent = words.copy), COPIED_MS);
}
