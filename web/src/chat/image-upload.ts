// Images attached to a message: validation, resizing, upload and download.

import { newIdempotencyKey, type GatewayClient, type OutboxMessage } from "@millpond/client";
import { UnreadableImageError } from "../i18n/error-text.ts";
import type { ComposedMessage } from "./composer.ts";

/** Media types that models accept. */
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Models ignore or reject larger images. */
const SIDE_PX_MAX = 2048;
const IMAGE_BYTES_MAX = 3_500_000;

/** Time limit for one upload, for slow networks. */
const UPLOAD_MS_MAX = 120_000;

/** Images per message. */
export const IMAGES_MAX = 8;

/** True if the declared media type is a supported image. */
export function isImageFile(file: File): boolean {
  return IMAGE_TYPES.includes(file.type);
}

/** True if the browser can decode the file; a model given anything else fails the whole run. */
export async function isDecodableImage(image: File): Promise<boolean> {
  const bitmap = await createImageBitmap(image).catch(() => undefined);
  bitmap?.close();
  return bitmap !== undefined;
}

/** Downloads uploaded images as files, to attach them to another message. */
export function downloadImages(gateway: GatewayClient, session: string, digests: readonly string[]): Promise<File[]> {
  const download = async (digest: string, index: number) => {
    const file = await gateway.downloadFile(session, digest);
    return new File([file], `${index + 1}`, { type: file.type });
  };
  return Promise.all(digests.map(download));
}

/** Uploads the images of a message and returns it ready for the outbox. */
export async function uploadImagesOf(gateway: GatewayClient, session: string, { text, images, join }: ComposedMessage): Promise<OutboxMessage> {
  const attachments: string[] = [];
  for (const image of images) {
    const file = await shrinkImage(image);
    attachments.push((await gateway.uploadFile(session, file, AbortSignal.timeout(UPLOAD_MS_MAX))).digest);
  }
  return { key: newIdempotencyKey(), session, text, ...(attachments.length && { attachments }), ...(join && { join }) };
}

/** Scales an image down to the limits, as JPEG; returns small images unchanged. */
async function shrinkImage(image: File): Promise<Blob> {
  const bitmap = await createImageBitmap(image).catch(() => undefined);
  // It was decodable when attached: the file has changed since.
  if (!bitmap) throw new UnreadableImageError(image.name);
  const scale = Math.min(1, SIDE_PX_MAX / Math.max(bitmap.width, bitmap.height));
  if (scale === 1 && image.size <= IMAGE_BYTES_MAX) return image;
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d");
  if (!context) return image;
  // JPEG has no transparency: use white as the background.
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return new Promise((resolve) => canvas.toBlob((smaller) => resolve(smaller ?? image), "image/jpeg", 0.9));
}
