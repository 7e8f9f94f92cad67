// The wire protocol (docs/PROTOCOL.md): views, and the generated types of items, patches and pages.

export const VIEWS = ["latest", "steps", "bubbles", "transcript", "sentences"] as const;
export type View = (typeof VIEWS)[number];
export type Thinking = "hide" | "latest" | "show";

export type {
  Ask,
  AskKind,
  AskOption,
  Citation,
  DiffLine,
  EndedRun,
  FileDiff,
  ImageRef,
  Item,
  ItemKind,
  ItemState,
  Outcome,
  Overlay,
  Page as Snapshot,
  PatchFrame as Patch,
  PatchPayload,
  ResolvedAsk,
  Settled,
  Source,
  Status,
  Todo,
  ToolDescription,
  ToolPurpose,
} from "./wire-types.ts";
