// Incremental parser for server-sent events. Chunk boundaries do not affect the result.

/** One server-sent event; `event` is empty if the stream named none. */
export interface SseEvent {
  id: string | undefined;
  event: string;
  data: string;
}

/** Receiver of parsed events and comments. */
export interface SseSink {
  event(event: SseEvent): void;
  comment(text: string): void;
}

/** Maximum length of an unfinished line. A gateway never sends an event this long. */
const EVENT_CHARS_MAX = 64 * 1024 * 1024;

/** Push parser: bytes in, events and comments out to a sink. */
export class SseParser {
  private readonly decoder = new TextDecoder();
  /** Pieces of the unfinished line, joined once when it ends. */
  private linePieces: string[] = [];
  private bufferedChars = 0;
  private skipLineFeed = false;
  private eventId: string | undefined;
  private eventName = "";
  private dataLines: string[] = [];

  constructor(private readonly sink: SseSink) {}

  push(bytes: Uint8Array): void {
    this.pushText(this.decoder.decode(bytes, { stream: true }));
  }

  private pushText(text: string): void {
    let from = this.skipLineFeed && text.startsWith("\n") ? 1 : 0;
    if (text.length) this.skipLineFeed = false;
    for (;;) {
      const end = indexOfLineEnd(text, from);
      if (end < 0) break;
      this.linePieces.push(text.slice(from, end));
      this.processLine();
      const isCarriageReturn = text[end] === "\r";
      from = end + (isCarriageReturn && text[end + 1] === "\n" ? 2 : 1);
      if (isCarriageReturn && end + 1 === text.length) this.skipLineFeed = true;
    }
    if (from < text.length) this.bufferPartialLine(text.slice(from));
  }

  private bufferPartialLine(piece: string): void {
    this.linePieces.push(piece);
    this.bufferedChars += piece.length;
    if (EVENT_CHARS_MAX < this.bufferedChars) throw new Error(`server-sent event exceeds ${EVENT_CHARS_MAX} characters`);
  }

  private processLine(): void {
    const line = this.linePieces.length === 1 ? (this.linePieces[0] ?? "") : this.linePieces.join("");
    this.linePieces = [];
    if (line === "") return this.emitEvent();
    if (line.startsWith(":")) return this.sink.comment(line.slice(1).trimStart());
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") this.dataLines.push(value);
    else if (field === "event") this.eventName = value;
    else if (field === "id") this.eventId = value;
  }

  private emitEvent(): void {
    const { eventId, eventName, dataLines } = this;
    this.eventId = undefined;
    this.eventName = "";
    this.dataLines = [];
    this.bufferedChars = 0;
    if (dataLines.length) this.sink.event({ id: eventId, event: eventName, data: dataLines.join("\n") });
  }
}

const LINE_END = /[\r\n]/g;

function indexOfLineEnd(text: string, from: number): number {
  LINE_END.lastIndex = from;
  return LINE_END.exec(text)?.index ?? -1;
}
