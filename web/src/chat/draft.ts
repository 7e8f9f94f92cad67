// What was begun in one chat and is not sent yet. It outlives the field that shows it: whoever goes to
// another chat while it is on its way finds neither there, and finds here what is left of it.

/** Where the text is kept over reloads. */
export interface Keeping {
  read(): string;
  write(text: string): void;
}

export interface Written {
  text: string;
  pictures: readonly File[];
}

export class Draft {
  /** Told of every change: the field that shows it. */
  private changed: (() => void) | undefined;
  private said: string;
  private shown: readonly File[] = [];
  private isSending = false;

  constructor(private readonly keeping?: Keeping) {
    this.said = keeping?.read() ?? "";
  }

  /** Another tab may have written meanwhile. */
  open(changed: () => void): void {
    this.changed = changed;
    if (this.keeping) this.said = this.keeping.read();
  }

  leave(changed: () => void): void {
    if (this.changed === changed) this.changed = undefined;
  }

  get text(): string {
    return this.said;
  }

  set text(text: string) {
    this.said = text;
    this.keeping?.write(text);
    this.changed?.();
  }

  /** Only while the page is open. */
  get pictures(): readonly File[] {
    return this.shown;
  }

  set pictures(pictures: readonly File[]) {
    this.shown = pictures;
    this.changed?.();
  }

  /** Whether it is on its way: it stays, and is not sent twice. */
  get sending(): boolean {
    return this.isSending;
  }

  /** Puts a text below what is written already. */
  add(text: string): void {
    this.text = this.text.trim() ? `${this.text.trimEnd()}\n\n${text}` : text;
  }

  /** What was sent goes from it once `send` says that it is kept; what was written since stays. */
  async sendBy(send: () => Promise<boolean>, { text, pictures }: Written): Promise<void> {
    if (this.isSending) return;
    this.isSending = true;
    this.changed?.();
    try {
      if (!(await send())) return;
      if (this.text === text) this.text = "";
      this.pictures = this.pictures.filter((picture) => !pictures.includes(picture));
    } finally {
      this.isSending = false;
      this.changed?.();
    }
  }
}
