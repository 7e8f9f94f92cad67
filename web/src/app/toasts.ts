// Short words about what was done, with a way to undo it where there is one.

import { LitElement, html, nothing, type TemplateResult } from "lit";

interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void };
}

const SHOWN_MS = 6_000;
const SHOWN_MS_WITH_ACTION = 25_000;

export class ToastsElement extends LitElement {
  static override properties = { toasts: { state: true } };
  declare private toasts: Toast[];
  private next = 0;

  constructor() {
    super();
    this.toasts = [];
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  tell(text: string, action?: { label: string; run: () => void }): void {
    const toast: Toast = { id: this.next++, text, ...(action && { action }) };
    this.toasts = [...this.toasts, toast].slice(-4);
    setTimeout(() => this.drop(toast.id), action ? SHOWN_MS_WITH_ACTION : SHOWN_MS);
  }

  protected override render(): TemplateResult {
    return html`<div class="toasts" role="status" aria-live="polite">
      ${this.toasts.map(
        ({ id, text, action }) => html`<div class="toast">
          <span dir="auto">${text}</span>
          ${action ? html`<button type="button" class="quiet" @click=${() => (action.run(), this.drop(id))}>${action.label}</button>` : nothing}
        </div>`,
      )}
    </div>`;
  }

  private drop(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
  }
}

customElements.define("mp-toasts", ToastsElement);

declare global {
  interface HTMLElementTagNameMap {
    "mp-toasts": ToastsElement;
  }
}
