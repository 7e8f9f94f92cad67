// Generated from docs/frames.schema.json: do not edit. To renew it: UPDATE=1 npx vitest run wire-types

/**
 * Payload of a `patch` frame; a bare string is appended to the last item.
 */
export type PatchFrame = string | PatchPayload;
/**
 * Kind of ask.
 */
export type AskKind = "tool" | "command" | "mcp" | "browser" | "followup" | "other";
/**
 * Kind of a change to a file.
 */
export type FileChange = "update" | "write" | "delete";
/**
 * Kind of a line in a change.
 */
export type LineChange = "same" | "added" | "removed" | "gap";
/**
 * Purpose of a tool call, whatever its agent calls the tool.
 */
export type ToolPurpose =
  | "command"
  | "read"
  | "edit"
  | "write"
  | "search"
  | "list"
  | "web_search"
  | "fetch"
  | "todo"
  | "plan"
  | "agent"
  | "mcp"
  | "computer"
  | "other";
/**
 * State of a task.
 */
export type TodoState = "pending" | "active" | "done" | "cancelled";
/**
 * Outcome of a run.
 */
export type Outcome =
  "completed" | "failed" | "cancelled" | "truncated" | "stalled" | "interrupted";
/**
 * Reason of a failed run.
 */
export type FailureReason = "refused" | "error" | "limit" | "empty" | "unrecognised" | "storage";
/**
 * Reply of a run.
 */
export type Reply = "message" | "none";
/**
 * Why a round stopped.
 */
export type StopReason = "end" | "tools" | "length" | "paused" | "other";
/**
 * Key of an item; a page shows its items in key order.
 */
export type ItemKey = number;
/**
 * Kind of work that an overlay reports.
 */
export type OverlayPhase =
  "waiting" | "reasoning" | "tool" | "web_search" | "code_interpreter" | "loading";
/**
 * Kind of an item.
 */
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
/**
 * State of an item.
 */
export type ItemState =
  | "live"
  | "draft"
  | "done"
  | "pending"
  | "called"
  | "failed"
  | "denied"
  | "incomplete"
  | "withdrawn";
/**
 * Party that answered an ask.
 */
export type AnsweredBy = "person" | "policy" | "nobody";
/**
 * Current activity of the agent.
 */
export type Status =
  | {
      doing: "idle";
    }
  | {
      doing: "queued";
    }
  | {
      doing: "started";
    }
  | {
      doing: "streaming";
      /**
       * Number of the round.
       */
      round: number;
    }
  | {
      doing: "thinking";
      /**
       * The newest increment, if the reader asked for it.
       */
      text?: string;
    }
  | {
      doing: "working";
      /**
       * The open tool, if there is exactly one and the view names tools.
       */
      only?: string;
      phase: ToolPhase;
      /**
       * Number of open tools.
       */
      running: number;
      tool?: ToolName;
    }
  | {
      doing: "writing";
    }
  | {
      doing: "inline";
    }
  | {
      doing: "waiting";
    }
  | {
      doing: "resumed";
      /**
       * The open tool, if there is exactly one and the view names tools.
       */
      only?: string;
      /**
       * Number of open tools.
       */
      running: number;
    };
/**
 * Event of a tool: its start or its end.
 */
export type ToolPhase = "started" | "ended";

/**
 * Payloads of the frames in patch format, by the name of the frame.
 */
export interface Frames {
  patch: PatchFrame;
  snapshot: SnapshotPayload;
}
/**
 * All members that a patch frame may have.
 */
export interface PatchPayload {
  ask?: Ask;
  at_ms?: number;
  call?: string;
  citation?: Citation;
  closed?: number;
  description?: ToolDescription;
  ended?: EndedRun;
  i?: ItemKey;
  image?: ImageRef;
  keep?: number;
  /**
   * Text of the status or the ending; derived from it, so ignored.
   */
  label?: string;
  next?: string;
  overlay?: Overlay | null;
  put?: Item;
  remove?: boolean;
  resolved?: ResolvedAsk;
  result?: Item;
  /**
   * @minItems 2
   * @maxItems 2
   */
  settled?: [number, number];
  state?: ItemState;
  status?: Status;
  t?: string;
  withdrawn?: ItemKey[];
}
/**
 * A question or approval request for the user.
 */
export interface Ask {
  /**
   * Digest of exactly what an approval would run.
   */
  digest: string | null;
  /**
   * Milliseconds since the epoch.
   */
  expiresAt: number | null;
  /**
   * Id of the ask.
   */
  id: string;
  kind: AskKind;
  /**
   * The answers it offers; none for a free-form answer.
   */
  options: AskOption[];
  /**
   * Id of its run.
   */
  run: string;
  /**
   * The question.
   */
  text: string;
}
/**
 * One answer that an ask offers.
 */
export interface AskOption {
  /**
   * Id to answer with.
   */
  id: string;
  /**
   * Text for people.
   */
  label: string;
}
/**
 * A source that a message cites.
 */
export interface Citation {
  /**
   * The quoted text, if the source has it.
   */
  quote?: string;
  /**
   * Title of the source.
   */
  title?: string;
  /**
   * Address of the source.
   */
  url?: string;
}
/**
 * Normalised description of a tool call and its result, for people.
 */
export interface ToolDescription {
  /**
   * True if the description says all that the arguments do.
   */
  covers_arguments?: boolean;
  /**
   * Changes to files.
   */
  diffs?: FileDiff[];
  /**
   * Exit status of a command.
   */
  exit_code?: number;
  omitted?: Omitted;
  purpose: ToolPurpose;
  /**
   * Name of the MCP server, in plain words.
   */
  server?: string;
  /**
   * Sources that a search found, each once.
   */
  sources?: Source[];
  /**
   * Path, command, query or address that the call is about.
   */
  target?: string;
  /**
   * Short title: a verb, or what the agent says that the call is for.
   */
  title: string;
  /**
   * Tasks of a to-do list or plan.
   */
  todos?: Todo[];
}
/**
 * Change of one file.
 */
export interface FileDiff {
  change: FileChange;
  /**
   * Lines, in order.
   */
  lines?: DiffLine[];
  /**
   * New path of a moved file.
   */
  moved_to?: string;
  /**
   * Path of the file.
   */
  path: string;
}
/**
 * One line of a change.
 */
export interface DiffLine {
  change: LineChange;
  /**
   * Its number, from 1: in the old file if it is removed, else in the new one. Missing if it is
   * unknown.
   */
  number?: number;
  /**
   * Its text, without the line end.
   */
  text?: string;
}
/**
 * Counts of what a description leaves out.
 */
export interface Omitted {
  /**
   * Lines of changes.
   */
  diff_lines?: number;
  /**
   * Changed files.
   */
  files?: number;
  /**
   * Sources.
   */
  sources?: number;
  /**
   * Tasks.
   */
  todos?: number;
}
/**
 * A source that a search found.
 */
export interface Source {
  /**
   * Title of the source.
   */
  title?: string;
  /**
   * Address of the source.
   */
  url: string;
}
/**
 * One task of a to-do list or plan.
 */
export interface Todo {
  state: TodoState;
  /**
   * The task.
   */
  text: string;
}
/**
 * Ending of a run; the same in every view.
 */
export interface EndedRun {
  /**
   * Text of the final message; omitted where the page has it as an item.
   */
  content?: string;
  /**
   * Error message or reason.
   */
  detail?: string;
  /**
   * True if the reply is not whole.
   */
  incomplete: boolean;
  outcome: Outcome;
  reason?: FailureReason;
  reply: Reply;
  /**
   * Id of the run.
   */
  run: string;
  stop?: StopReason;
}
/**
 * Reference to an image on a page.
 */
export interface ImageRef {
  /**
   * Media type, such as `image/png`; `None` for a link.
   */
  mediaType?: string;
  /**
   * The source's URL, or `sha256:` and the digest of the image's bytes.
   */
  ref: string;
}
/**
 * Overlay above the page until a round's first text.
 */
export interface Overlay {
  /**
   * Text for people.
   */
  label: string;
  phase: OverlayPhase;
  /**
   * Round that is awaited.
   */
  round: number;
}
/**
 * One item of a page. Fields without a value are omitted.
 */
export interface Item {
  /**
   * JSON, as the model wrote it.
   */
  arguments?: string;
  /**
   * Start time.
   */
  at_ms?: number;
  /**
   * The provider's id of a tool call.
   */
  call?: string;
  /**
   * Sources that the item cites.
   */
  citations?: Citation[];
  description?: ToolDescription;
  /**
   * Id of its message, step or ask; unique among the items of its kind in a session.
   */
  id: string;
  /**
   * Images of the item.
   */
  images?: ImageRef[];
  /**
   * Dense index among its kind, if the view counts them.
   */
  index?: number;
  kind: ItemKind;
  /**
   * Text for people, if the view makes one.
   */
  label?: string;
  /**
   * Name of a tool or an action.
   */
  name?: string;
  /**
   * Run time of the step.
   */
  ran_for_ms?: number;
  /**
   * Output of a tool, or the answer to an ask.
   */
  result?: string;
  /**
   * Round that it belongs to.
   */
  round?: number;
  /**
   * Id of its run.
   */
  run: string;
  /**
   * Sort of tool, ask or notice, in the event log's terms.
   */
  sort?: string;
  state: ItemState;
  /**
   * Steps folded under this item.
   */
  steps?: Item[];
  /**
   * Text so far.
   */
  text?: string;
}
/**
 * The answer to an ask.
 */
export interface ResolvedAsk {
  /**
   * The answer.
   */
  answer: string;
  by: AnsweredBy;
  /**
   * Id of the ask.
   */
  id: string;
  /**
   * Id of its run.
   */
  run: string;
}
/**
 * Item id and name of a tool.
 */
export interface ToolName {
  /**
   * Id of the tool's item.
   */
  id: string;
  /**
   * Name of the tool.
   */
  name: string;
}
/**
 * Payload of a `snapshot` frame in protocol version 2.
 */
export interface SnapshotPayload {
  page: Page;
  protocol: number;
  /**
   * The active run.
   */
  run: string | null;
}
/**
 * The whole state of a view. A reader that gets one needs no earlier patches.
 */
export interface Page {
  /**
   * Open asks.
   */
  asks?: Ask[];
  ended?: EndedRun;
  /**
   * Items in key order.
   */
  items: {
    [k: string]: Item;
  };
  /**
   * Text of the status or of the ending.
   */
  label?: string;
  overlay?: Overlay;
  settled?: Settled;
  status?: Status;
}
/**
 * Extent of the settled part: this many items, and this many bytes of the next item's text.
 */
export interface Settled {
  /**
   * Final bytes of the next item.
   */
  bytes: number;
  /**
   * Items that are final.
   */
  count: number;
}
