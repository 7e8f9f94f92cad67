// What a model call took, on one line.

import type { Item } from "@millpond/client";
import type { Words } from "../words/words.ts";

interface Request {
  cost?: number | null;
  tokensIn?: number;
  tokensOut?: number;
  model?: string;
}

export function request(item: Item, words: Words): string {
  let told: Request = {};
  try {
    told = JSON.parse(item.text ?? "{}") as Request;
  } catch {
    return item.text ?? "";
  }
  const count = (told.tokensIn ?? 0) + (told.tokensOut ?? 0);
  const parts = [told.model, count ? words.tokens(words.count(count)) : undefined];
  if (typeof told.cost === "number") parts.push(`$${told.cost.toFixed(4)}`);
  if (item.state !== "done") parts.push(words.state[item.state]);
  return parts.filter(Boolean).join(" · ");
}
