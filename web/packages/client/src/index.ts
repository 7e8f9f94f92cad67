export * from "./page.ts";
export { Page, NoPatch, type Change } from "./reduce.ts";
export { unitsOfBytes } from "./bytes.ts";
export { EventParser, type ServerEvent, type EventSink } from "./events.ts";
export { Gateway, Refused, type Session, type Waiting, type Run, type Usage, type Blob, type Options } from "./gateway.ts";
export { Line, realClock, type Clock, type LineEnds, type LineState } from "./line.ts";
export { Reader, type ReaderEnds } from "./reader.ts";
export { News, type NewsEnds } from "./news.ts";
export { Outbox, type Letter, type Drawer, type OutboxEnds } from "./outbox.ts";
