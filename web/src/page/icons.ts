// Line icons of tool rows, drawn on a grid of 16 pixels.

import type { Item, ToolPurpose } from "@millpond/client";
import { svg, type SVGTemplateResult } from "lit";

const PATHS = {
  tool: "M2.5 4.5h7M2.5 8h11M2.5 11.5h7M12 3v3M6 10v3",
  command: "M2 3h12v10H2zM4.5 6l2 2-2 2M8.5 10h3",
  edit: "M3 2h6l3 3v3M3 2v12h4M8.5 14l.5-2 4-4 1.5 1.5-4 4z",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3 14 14",
  web: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM2 8h12M8 2c4 4 4 8 0 12M8 2c-4 4-4 8 0 12",
  agent: "M3 6h10v7H3zM8 6V3M6 9v1.5M10 9v1.5",
  image: "M2 3h12v10H2zM2 11l4-4 3 3 2-2 3 3M10.5 5.5h.5",
  action: "M3 2l9 5-4 1.5L6.5 13z",
  file: "M4 2h5l3 3v9H4zM9 2v3h3M6 8h4M6 11h4",
  tasks: "M2 4l1 1 2-2M7.5 4H14M2 8l1 1 2-2M7.5 8H14M2 12l1 1 2-2M7.5 12H14",
} as const;

type IconName = keyof typeof PATHS;

/** Icons by sort of tool; others have the general one. */
const ICON_OF_SORT: Record<string, IconName> = {
  command: "command",
  code_interpreter: "command",
  edit: "edit",
  file_search: "search",
  web_search: "web",
  web_fetch: "web",
  agent: "agent",
  image_generation: "image",
  action: "action",
};

const ICON_OF_PURPOSE: Record<ToolPurpose, IconName | undefined> = {
  command: "command",
  read: "file",
  edit: "edit",
  write: "edit",
  search: "search",
  list: "file",
  web_search: "web",
  fetch: "web",
  todo: "tasks",
  plan: "tasks",
  agent: "agent",
  mcp: undefined,
  computer: "action",
  other: undefined,
};

/** Icon of a call; decoration, hidden from screen readers. */
export function toolIcon({ description, sort }: Pick<Item, "description" | "sort">): SVGTemplateResult {
  const name = (description && ICON_OF_PURPOSE[description.purpose]) ?? ICON_OF_SORT[sort ?? ""] ?? "tool";
  return svg`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
}
