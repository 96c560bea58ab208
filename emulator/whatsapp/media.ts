import { createHash, createHmac } from 'node:crypto';
import { GraphError } from './errors.ts';
import { addMedia, changed, type Media, type Store } from './store.ts';

export const downloadPath = '/whatsapp_business/attachments/';
const addressLivesSeconds = 300;

/** What Meta lets a business upload, in megabytes; stickers are images here. */
const largest: [mime: RegExp, megabytes: number][] = [
  [/^image\/webp$/, 0.5],
  [/^image\/(jpeg|png)$/, 5],
  [/^audio\/(aac|amr|mpeg|mp4|ogg|opus)\b/, 16],
  [/^video\/(mp4|3gpp)$/, 16],
  [/^text\/plain\b/, 100],
  [
    /^application\/(pdf|msword|vnd\.ms-excel|vnd\.ms-powerpoint|vnd\.openxmlformats-officedocument\..+)$/,
    100,
  ],
];

export async function uploadMedia(
  store: Store,
  bytes: Buffer,
  contentType: string,
): Promise<Record<string, unknown>> {
  const form = await readForm(bytes, contentType);
  if (form.get('messaging_product') !== 'whatsapp')
    throw new GraphError(100, { message: 'The parameter messaging_product is required.' });
  const file = form.get('file');
  if (!(file instanceof File)) throw new GraphError(100, { message: 'The parameter file is required.' });
  const type = form.get('type');
  const mime = file.type || (typeof type === 'string' ? type : '');
  refuseUnsupported(mime, file.size);
  const media = addMedia(store, {
    bytes: Buffer.from(await file.arrayBuffer()),
    mime,
    filename: file.name,
  });
  return { id: media.id };
}

async function readForm(bytes: Buffer, contentType: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw new GraphError(100, { message: 'The parameter messaging_product is required.' });
  }
}

function refuseUnsupported(mime: string, size: number): void {
  const megabytes = largest.find(([pattern]) => pattern.test(mime))?.[1];
  if (megabytes === undefined)
    throw new GraphError(100, {
      message: `Param file must be a file with one of the supported types. Received file of type '${mime}'.`,
    });
  if (size > megabytes * 1024 * 1024)
    throw new GraphError(131053, { details: `The file is larger than ${megabytes} MB.` });
}

export function describeMedia(store: Store, media: Media, origin: string): Record<string, unknown> {
  const expires = String(Math.floor(Date.now() / 1000) + addressLivesSeconds);
  const query = new URLSearchParams({
    mid: media.id,
    ext: expires,
    hash: addressHash(store, media.id, expires),
  });
  return {
    url: `${origin}${downloadPath}?${query.toString()}`,
    mime_type: media.mime,
    sha256: sha256(media.bytes).toString('hex'),
    file_size: media.bytes.length,
    id: media.id,
    messaging_product: 'whatsapp',
  };
}

export function downloadMedia(store: Store, query: URLSearchParams): { bytes: Buffer; mime: string } {
  const id = query.get('mid') ?? '';
  const expires = query.get('ext') ?? '';
  const media = store.media.get(id);
  const valid = query.get('hash') === addressHash(store, id, expires) && Number(expires) * 1000 > Date.now();
  if (!media || !valid)
    throw new GraphError(100, { httpStatus: 404, message: 'The URL is not valid or expired.' });
  return media;
}

export function deleteMedia(store: Store, media: Media): { success: true } {
  store.media.delete(media.id);
  changed(store);
  return { success: true };
}

export function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function addressHash({ settings }: Store, id: string, expires: string): string {
  return createHmac('sha256', settings.appSecret).update(`${id} ${expires}`).digest('base64url');
}
