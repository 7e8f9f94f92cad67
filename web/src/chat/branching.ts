// A message that is written anew, for a branch from before it.
//
// Invariant: its pictures go with what takes its place unless a person took them out; nothing is sent
// before they are shown, or it was told why they are not.

import type { Item } from "@millpond/client";
import type { Sent } from "./composer.ts";
import { Draft } from "./draft.ts";
import { PICTURES_MAX } from "./shown.ts";

export class Branching {
  readonly draft = new Draft();
  private pictures: Promise<"shown" | "missing">;

  /** `fetch` tells the person why it brings nothing. */
  constructor(
    readonly from: Item,
    fetch: (digests: readonly string[]) => Promise<File[] | undefined>,
  ) {
    this.draft.text = from.text ?? "";
    this.pictures = this.bringPictures(fetch(digestsOf(from)));
  }

  private async bringPictures(fetched: Promise<File[] | undefined>): Promise<"shown" | "missing"> {
    const files = await fetched;
    if (files) this.draft.pictures = [...files, ...this.draft.pictures].slice(0, PICTURES_MAX);
    return files ? "shown" : "missing";
  }

  /** Says whether the branch is there. */
  async sendBy(branch: (from: Item, sent: Sent) => Promise<boolean>, sent: Sent): Promise<boolean> {
    const came = await this.pictures;
    // Whoever sends it again does so without them.
    this.pictures = Promise.resolve("shown");
    return came === "shown" && branch(this.from, { ...sent, pictures: this.draft.pictures });
  }
}

function digestsOf({ images = [] }: Item): string[] {
  return images.flatMap(({ ref }) => (ref.startsWith("sha256:") ? [ref.slice(7)] : []));
}
