// Types of the wire protocol (docs/PROTOCOL.md): items, patches, snapshots.

export const VIEWS = ["latest", "steps", "bubbles", "transcript", "sentences"] as const;
export type View = (typeof VIEWS)[number];
export type Thinking = "hide" | "latest" | "show";

export type ItemKind =
  | "user"
  | "text"
  | "reasoning"
  | "tool"
  | "steps"
  | "entry"
  | "action"
  | "ask"
  | "request"
  | "checkpoint"
  | "notice"
  | "error"
  | "withdrawal";

export type ItemState = "live" | "done" | "called" | "failed" | "denied" | "incomplete" | "withdrawn";

/** An image of an item: a blob digest or a URL. */
export interface ImageRef {
  ref: string;
  mediaType?: string;
}

export interface Citation {
  url?: string;
  title?: string;
  quote?: string;
}

/** One item of a page. */
export interface Item {
  kind: ItemKind;
  run: string;
  id: string;
  state: ItemState;
  text?: string;
  round?: number;
  index?: number;
  at_ms?: number;
  ran_for_ms?: number;
  name?: string;
  sort?: string;
  call?: string;
  arguments?: string;
  result?: string;
  label?: string;
  steps?: Item[];
  images?: ImageRef[];
  citations?: Citation[];
}

export interface Overlay {
  round: number;
  phase: "waiting" | "reasoning" | "tool" | "web_search" | "code_interpreter" | "loading";
  label: string;
}

/** Current activity of a run. */
export interface Status {
  doing:
    | "idle"
    | "queued"
    | "started"
    | "streaming"
    | "thinking"
    | "working"
    | "writing"
    | "waiting"
    | "resumed";
  /** The newest thinking text, if the stream was opened with it. */
  text?: string;
  running?: number;
  only?: string;
}

/** An open question to the user: an approval or a follow-up question. */
export interface Ask {
  run: string;
  id: string;
  kind: "tool" | "command" | "mcp" | "browser" | "followup" | "other";
  text: string;
  options: { id: string; label: string }[];
  digest: string | null;
  expiresAt: number | null;
}

/** The answer to an ask. */
export interface AskResolution {
  run: string;
  id: string;
  answer: string;
  by: "person" | "policy" | "nobody";
}

export type Outcome =
  | "completed"
  | "failed"
  | "cancelled"
  | "truncated"
  | "stalled"
  | "interrupted";

/** How a run ended. */
export interface RunEnding {
  run: string;
  outcome: Outcome;
  stop?: string;
  reason?: string;
  detail?: string;
  reply: "message" | "none";
  incomplete: boolean;
}

/** Size of the part of the page that no longer changes. */
export interface Settled {
  count: number;
  bytes: number;
}

/** A whole page as the gateway encodes it. */
export interface Snapshot {
  items: Record<string, Item>;
  settled?: Settled;
  overlay?: Overlay;
  status?: Status;
  label?: string;
  asks?: Ask[];
  ended?: RunEnding;
}

/** A patch; a bare string is appended to the last item. */
export type Patch = string | PatchFields;

export interface PatchFields {
  i?: number;
  t?: string;
  next?: string;
  at_ms?: number;
  keep?: number;
  put?: Item;
  state?: ItemState;
  image?: ImageRef;
  citation?: Citation;
  remove?: boolean;
  withdrawn?: number[];
  closed?: number;
  settled?: [number, number];
  overlay?: Overlay | null;
  status?: Status;
  label?: string;
  ask?: Ask;
  resolved?: AskResolution;
  ended?: RunEnding;
}
