// One-line summary of a model request: model, tokens, cost.

import type { Item } from "@millpond/client";
import type { Strings } from "../i18n/strings.ts";

/** JSON in the text of a `request` or `usage` item. */
interface RequestRecord {
  cost?: number | null;
  tokensIn?: number;
  tokensOut?: number;
  model?: string;
  streamingFailedMessage?: string;
  cancelReason?: string;
}

export function requestSummary(item: Item, strings: Strings): string {
  let record: RequestRecord;
  try {
    record = JSON.parse(item.text ?? "{}") as RequestRecord;
  } catch {
    return item.text ?? "";
  }
  const count = (record.tokensIn ?? 0) + (record.tokensOut ?? 0);
  const parts = [record.model, count ? strings.tokens(strings.formatNumber(count)) : undefined];
  if (typeof record.cost === "number") parts.push(`$${record.cost.toFixed(4)}`);
  const reason = record.streamingFailedMessage ?? record.cancelReason;
  const state = record.cancelReason && !record.streamingFailedMessage ? strings.requestCancelled : strings.itemStates[item.state];
  if (item.state !== "done") parts.push(reason ? `${state}: ${reason}` : state);
  return parts.filter(Boolean).join(" · ") || strings.itemStates[item.state];
}
