// One-line summary of a model request: model, tokens, cost.

import type { Item } from "@millpond/client";
import type { Strings } from "../i18n/strings.ts";

/** JSON in the text of a `request` or `usage` item. */
interface RequestRecord {
  cost?: number | null;
  tokensIn?: number;
  /** Tokens in, cached ones included; missing if there are none or if it is not known. */
  tokensInTotal?: number;
  cacheReads?: number;
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
  const parts = [record.model, tokensText(record, strings)];
  if (typeof record.cost === "number") parts.push(`$${decimalText(record.cost)}`);
  const reason = record.streamingFailedMessage ?? record.cancelReason;
  const state = record.cancelReason && !record.streamingFailedMessage ? strings.requestCancelled : strings.itemStates[item.state];
  if (item.state !== "done") parts.push(reason ? `${state}: ${reason}` : state);
  return parts.filter(Boolean).join(" · ") || strings.itemStates[item.state];
}

/** Tokens in and out, and how many of them came from a cache; beside them if the source does not say how it counts. */
function tokensText(record: RequestRecord, strings: Strings): string | undefined {
  const count = (record.tokensInTotal ?? record.tokensIn ?? 0) + (record.tokensOut ?? 0);
  const total = count ? strings.tokens(strings.formatNumber(count)) : undefined;
  if (!record.cacheReads) return total;
  const cached = strings.tokensFromCache(strings.formatNumber(record.cacheReads));
  if (total === undefined) return cached;
  return record.tokensInTotal === undefined ? `${total} · ${cached}` : `${total} (${cached})`;
}

/** A number of dollars without exponent and without zeros at its end. */
function decimalText(dollars: number): string {
  return dollars.toFixed(9).replace(/\.?0+$/, "");
}
