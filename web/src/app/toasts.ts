// Toasts: short messages with an optional action such as undo.

import { LitElement, html, nothing, type TemplateResult } from "lit";

interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void };
}

const TOASTS_MAX = 4;
const SHOWN_MS = 6_000;
const SHOWN_MS_WITH_ACTION = 25_000;

/** Shows the newest toasts for a few seconds each. */
export class ToastsElement extends LitElement {
  static override properties = { toasts: { state: true } };
  declare private toasts: Toast[];
  private nextId = 0;

  constructor() {
    super();
    this.toasts = [];
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  showToast(text: string, action?: { label: string; run: () => void }): void {
    const toast: Toast = { id: this.nextId++, text, ...(action && { action }) };
    this.toasts = [...this.toasts, toast].slice(-TOASTS_MAX);
    setTimeout(() => this.dismiss(toast.id), action ? SHOWN_MS_WITH_ACTION : SHOWN_MS);
  }

  protected override render(): TemplateResult {
    return html`<div class="toasts" role="status" aria-live="polite">
      ${this.toasts.map(
        ({ id, text, action }) => html`<div class="toast">
          <span dir="auto">${text}</span>
          ${action ? html`<button type="button" class="link-button" @click=${() => (action.run(), this.dismiss(id))}>${action.label}</button>` : nothing}
        </div>`,
      )}
    </div>`;
  }

  private dismiss(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
  }
}

customElements.define("mp-toasts", ToastsElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-toasts": ToastsElement;
  }
}
