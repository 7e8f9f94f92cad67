// Pictures that go with a message: which files are some, and how they come to the gateway.

import { newKey, type Gateway, type Letter } from "@millpond/client";
import { Unreadable } from "../words/reason.ts";
import type { Sent } from "./composer.ts";

/** Kinds that models take. */
const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** No model looks at more than this, and some refuse it. */
const SIDE_MAX = 2048;
const BYTES_MAX = 3_500_000;

/** For one picture, on a slow network; what takes longer does not come. */
const UPLOAD_MS_MAX = 120_000;

export const PICTURES_MAX = 8;

export function isPicture(file: File): boolean {
  return KINDS.includes(file.type);
}

/** Whether it is what its name says: a model that is given something else fails the whole run. */
export async function isReadable(picture: File): Promise<boolean> {
  const bitmap = await createImageBitmap(picture).catch(() => undefined);
  bitmap?.close();
  return bitmap !== undefined;
}

/** Pictures that are at the gateway already, as files that can go with another message. */
export function fetched(gateway: Gateway, session: string, digests: readonly string[]): Promise<File[]> {
  const fetch = async (digest: string, at: number) => {
    const file = await gateway.file(session, digest);
    return new File([file], `${at + 1}`, { type: file.type });
  };
  return Promise.all(digests.map(fetch));
}

/** What is sent, with its pictures uploaded. */
export async function letterOf(gateway: Gateway, session: string, { text, pictures, join }: Sent): Promise<Letter> {
  const attachments: string[] = [];
  for (const picture of pictures) {
    const file = await fitting(picture);
    attachments.push((await gateway.upload(session, file, AbortSignal.timeout(UPLOAD_MS_MAX))).digest);
  }
  return { key: newKey(), session, text, ...(attachments.length && { attachments }), ...(join && { join }) };
}

/** A picture that is larger than models take, made smaller. */
async function fitting(picture: File): Promise<Blob> {
  const bitmap = await createImageBitmap(picture).catch(() => undefined);
  // It could be read when it was attached.
  if (!bitmap) throw new Unreadable(picture.name);
  const scale = Math.min(1, SIDE_MAX / Math.max(bitmap.width, bitmap.height));
  if (scale === 1 && picture.size <= BYTES_MAX) return picture;
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const pen = canvas.getContext("2d");
  if (!pen) return picture;
  // JPEG knows no transparency: what shines through is white there, as on paper.
  pen.fillStyle = "white";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return new Promise((resolve) => canvas.toBlob((smaller) => resolve(smaller ?? picture), "image/jpeg", 0.9));
}
