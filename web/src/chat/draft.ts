// The unsent message of one session. It outlives the composer: the user can open another chat while it is
// being sent and come back to what is left of it.

/** Storage of a draft's text across reloads. */
export interface DraftStorage {
  read(): string;
  write(text: string): void;
}

/** Text and images of a message. */
export interface DraftContent {
  text: string;
  images: readonly File[];
}

/** Draft of one session, shown by at most one composer at a time. */
export class Draft {
  /** Callback of the attached composer. */
  private onChange: (() => void) | undefined;
  private currentText: string;
  private imageFiles: readonly File[] = [];
  private inFlight = false;

  constructor(private readonly storage?: DraftStorage) {
    this.currentText = storage?.read() ?? "";
  }

  /** Attaches a composer and reads the stored text again, which another tab may have changed. */
  attach(onChange: () => void): void {
    this.onChange = onChange;
    if (this.storage) this.currentText = this.storage.read();
  }

  detach(onChange: () => void): void {
    if (this.onChange === onChange) this.onChange = undefined;
  }

  get text(): string {
    return this.currentText;
  }

  set text(text: string) {
    this.currentText = text;
    this.storage?.write(text);
    this.onChange?.();
  }

  /** Attached images; kept only while the page is open. */
  get images(): readonly File[] {
    return this.imageFiles;
  }

  set images(images: readonly File[]) {
    this.imageFiles = images;
    this.onChange?.();
  }

  /** True while it is being sent; it cannot be sent twice. */
  get isSending(): boolean {
    return this.inFlight;
  }

  /** Appends a text below the current one. */
  appendParagraph(text: string): void {
    this.text = this.text.trim() ? `${this.text.trimEnd()}\n\n${text}` : text;
  }

  /** Appends text and images, up to `imagesMax` images in all. */
  appendContent({ text, images }: DraftContent, imagesMax: number): void {
    if (text) this.appendParagraph(text);
    this.images = [...this.images, ...images].slice(0, imagesMax);
  }

  /** Runs `send`; if it returns true, removes the sent text and images. Later changes stay. */
  async sendWith(send: () => Promise<boolean>, { text, images }: DraftContent): Promise<void> {
    if (this.inFlight) return;
    this.inFlight = true;
    this.onChange?.();
    try {
      if (!(await send())) return;
      if (this.text === text) this.text = "";
      this.images = this.images.filter((image) => !images.includes(image));
    } finally {
      this.inFlight = false;
      this.onChange?.();
    }
  }
}
