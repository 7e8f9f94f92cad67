// Server-sent events out of bytes, however they were cut.

export interface ServerEvent {
  id: string | undefined;
  event: string;
  data: string;
}

export interface EventSink {
  event(event: ServerEvent): void;
  comment(text: string): void;
}

/** An event that is longer than this is no event of a gateway. */
const EVENT_CHARS_MAX = 64 * 1024 * 1024;

export class EventParser {
  private readonly decoder = new TextDecoder();
  /** Pieces of the line that has not ended; joined once, when it does. */
  private line: string[] = [];
  private chars = 0;
  private skipLineFeed = false;
  private id: string | undefined;
  private name = "";
  private data: string[] = [];

  constructor(private readonly sink: EventSink) {}

  push(bytes: Uint8Array): void {
    this.text(this.decoder.decode(bytes, { stream: true }));
  }

  private text(text: string): void {
    let from = this.skipLineFeed && text.startsWith("\n") ? 1 : 0;
    if (text.length) this.skipLineFeed = false;
    for (;;) {
      const end = endOfLine(text, from);
      if (end < 0) break;
      this.line.push(text.slice(from, end));
      this.endLine();
      const returns = text[end] === "\r";
      from = end + (returns && text[end + 1] === "\n" ? 2 : 1);
      if (returns && end + 1 === text.length) this.skipLineFeed = true;
    }
    if (from < text.length) this.keep(text.slice(from));
  }

  private keep(piece: string): void {
    this.line.push(piece);
    this.chars += piece.length;
    if (EVENT_CHARS_MAX < this.chars) throw new Error("an event is too long");
  }

  private endLine(): void {
    const line = this.line.length === 1 ? (this.line[0] ?? "") : this.line.join("");
    this.line = [];
    if (line === "") return this.endEvent();
    if (line.startsWith(":")) return this.sink.comment(line.slice(1).trimStart());
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") this.data.push(value);
    else if (field === "event") this.name = value;
    else if (field === "id") this.id = value;
  }

  private endEvent(): void {
    const { id, name, data } = this;
    this.id = undefined;
    this.name = "";
    this.data = [];
    this.chars = 0;
    if (data.length) this.sink.event({ id, event: name, data: data.join("\n") });
  }
}

const LINE_END = /[\r\n]/g;

function endOfLine(text: string, from: number): number {
  LINE_END.lastIndex = from;
  return LINE_END.exec(text)?.index ?? -1;
}
