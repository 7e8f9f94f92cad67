// What a page is made of, in the words of docs/PROTOCOL.md.

export const VIEWS = ["latest", "steps", "bubbles", "transcript", "sentences"] as const;
export type View = (typeof VIEWS)[number];
export type Thinking = "hide" | "latest" | "show";

export type Kind =
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

export type State = "live" | "done" | "called" | "failed" | "denied" | "incomplete" | "withdrawn";

export interface Picture {
  ref: string;
  mediaType?: string;
}

export interface Citation {
  url?: string;
  title?: string;
  quote?: string;
}

export interface Item {
  kind: Kind;
  run: string;
  id: string;
  state: State;
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
  images?: Picture[];
  citations?: Citation[];
}

export interface Overlay {
  round: number;
  phase: "waiting" | "reasoning" | "tool" | "web_search" | "code_interpreter" | "loading";
  label: string;
}

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
  /** The newest words of the thinking, where they were asked for. */
  text?: string;
  running?: number;
  only?: string;
}

export interface Ask {
  run: string;
  id: string;
  kind: "tool" | "command" | "mcp" | "browser" | "followup" | "other";
  text: string;
  options: { id: string; label: string }[];
  digest: string | null;
  expiresAt: number | null;
}

export interface Resolved {
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

export interface Ended {
  run: string;
  outcome: Outcome;
  stop?: string;
  reason?: string;
  detail?: string;
  reply: "message" | "none";
  incomplete: boolean;
}

export interface Settled {
  count: number;
  bytes: number;
}

/** A page as the gateway spells it whole. */
export interface Snapshot {
  items: Record<string, Item>;
  settled?: Settled;
  overlay?: Overlay;
  status?: Status;
  label?: string;
  asks?: Ask[];
  ended?: Ended;
}

/** A patch, or a text that is appended to the last item. */
export type Patch = string | PatchFields;

export interface PatchFields {
  i?: number;
  t?: string;
  next?: string;
  at_ms?: number;
  keep?: number;
  put?: Item;
  state?: State;
  image?: Picture;
  citation?: Citation;
  remove?: boolean;
  withdrawn?: number[];
  closed?: number;
  settled?: [number, number];
  overlay?: Overlay | null;
  status?: Status;
  label?: string;
  ask?: Ask;
  resolved?: Resolved;
  ended?: Ended;
}
