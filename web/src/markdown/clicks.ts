// Buttons in a text: copy code, show a remote image.

import type { MarkdownOptions } from "./stream.ts";

const COPIED_LABEL_MS = 2_000;

/** Listens on the host, so that it also works in a shadow root. Returns a function that removes the listener. */
export function handleClicks(host: Element, options: MarkdownOptions, markChanged: (element: Element) => void): () => void {
  const onClick = (event: Event): void => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (button === null || !host.contains(button)) return;
    if (button.classList.contains("md-show-image")) {
      // The button may be inside a link, which must not be followed.
      event.preventDefault();
      showRemoteImage(button, options, markChanged);
    } else if (button.closest("figure.md-code") !== null) void copyCode(button, options);
  };
  host.addEventListener("click", onClick);
  return () => host.removeEventListener("click", onClick);
}

function showRemoteImage(button: HTMLElement, options: MarkdownOptions, markChanged: (element: Element) => void): void {
  const { src = "", alt = "" } = button.dataset;
  if (button.parentElement !== null) markChanged(button.parentElement);
  button.replaceWith(options.createRemoteImage(src, alt));
}

async function copyCode(button: HTMLButtonElement, { strings }: MarkdownOptions): Promise<void> {
  const code = button.closest("figure.md-code")?.querySelector("code")?.textContent ?? "";
  // Without the final line feed, which would run the code when pasted into a shell.
  await navigator.clipboard.writeText(code.replace(/\n$/, ""));
  button.textContent = strings.copied;
  setTimeout(() => (button.textContent = strings.copy), COPIED_LABEL_MS);
}
