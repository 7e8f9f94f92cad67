// Pictures that go with a message: which files are some, and how they come to the gateway.

import { newKey, type Gateway, type Item, type Letter } from "@millpond/client";
import type { Sent } from "./composer.ts";

/** Kinds that models take. */
const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** No model looks at more than this, and some refuse it. */
const SIDE_MAX = 2048;
const BYTES_MAX = 3_500_000;

export const PICTURES_MAX = 8;

export function isPicture(file: File): boolean {
  return KINDS.includes(file.type);
}

/** What is sent, with its pictures uploaded, and with those of the message that it takes the place of. */
export async function letterOf(gateway: Gateway, session: string, { text, pictures, join }: Sent, instead?: Item): Promise<Letter> {
  const attachments = (instead?.images ?? []).flatMap(({ ref }) => (ref.startsWith("sha256:") ? [ref] : []));
  for (const picture of pictures) attachments.push((await gateway.upload(session, await fitting(picture))).digest);
  return { key: newKey(), session, text, ...(attachments.length && { attachments }), ...(join && { join }) };
}

/** A picture that is larger than models take, made smaller. What cannot be read stays as it is. */
async function fitting(picture: File): Promise<Blob> {
  const bitmap = await createImageBitmap(picture).catch(() => undefined);
  if (!bitmap) return picture;
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
