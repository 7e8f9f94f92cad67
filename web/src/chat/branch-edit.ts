// A message being edited in order to branch the session before it.
//
// Invariant: the images of the original stay attached unless the user removes them. Nothing is sent until
// they are loaded, or the user was told that they cannot be.

import type { Item } from "@millpond/client";
import type { ComposedMessage } from "./composer.ts";
import { Draft } from "./draft.ts";
import { IMAGES_MAX } from "./image-upload.ts";

/** Draft of the edited message, with the original's text and images. */
export class BranchEdit {
  readonly draft = new Draft();
  private imageLoad: Promise<"loaded" | "failed">;

  /** `loadImages` reports its failure to the user and then returns undefined. */
  constructor(
    readonly original: Item,
    loadImages: (digests: readonly string[]) => Promise<File[] | undefined>,
  ) {
    this.draft.text = original.text ?? "";
    this.imageLoad = this.addImagesToDraft(loadImages(imageDigests(original)));
  }

  private async addImagesToDraft(loading: Promise<File[] | undefined>): Promise<"loaded" | "failed"> {
    const files = await loading;
    if (files) this.draft.images = [...files, ...this.draft.images].slice(0, IMAGES_MAX);
    return files ? "loaded" : "failed";
  }

  /** Sends the edited message through `sendAsBranch`; returns true if the branch was created. */
  async sendWith(sendAsBranch: (original: Item, message: ComposedMessage) => Promise<boolean>, message: ComposedMessage): Promise<boolean> {
    const result = await this.imageLoad;
    // After a failed load, sending once more sends without the images.
    this.imageLoad = Promise.resolve("loaded");
    return result === "loaded" && sendAsBranch(this.original, { ...message, images: this.draft.images });
  }
}

function imageDigests({ images = [] }: Item): string[] {
  return images.flatMap(({ ref }) => (ref.startsWith("sha256:") ? [ref.slice(7)] : []));
}
