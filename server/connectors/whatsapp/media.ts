import { randomBytes } from 'node:crypto';
import { type Agent, request } from 'undici';
import type { Attachment } from '../../conversations/messages/schema.ts';
import { refusalOf } from '../../egress/guard.ts';
import type { Media, OpenChannel, SendResult } from '../connector.ts';
import { resultOf } from './errors.ts';
import { callGraph, hasToken, openGraph } from './graph.ts';

const mostBytes = 16 * 1024 * 1024;
/** How long the platform may take to begin with media, and to say nothing in the middle of it. */
const silenceMs = 30_000;

type Kind = 'image' | 'audio' | 'video' | 'document';

/** Fetches what an attachment names, under the same guard as everything that leaves, and hands it to the platform. */
export async function uploadMedia(
  agent: Agent,
  channel: OpenChannel,
  phoneNumberId: string,
  attachment: Attachment,
  deadline: AbortSignal,
): Promise<{ kind: Kind; id: string } | SendResult> {
  const bytes = await download(agent, attachment, deadline);
  if (!Buffer.isBuffer(bytes)) return bytes;
  const { content_type: type, file_name } = attachment;
  const { contentType, body } = multipart({ messaging_product: 'whatsapp', type }, file_name, type, bytes);
  const answer = await callGraph(agent, channel, {
    method: 'POST',
    path: `${encodeURIComponent(phoneNumberId)}/media`,
    headers: { 'content-type': contentType },
    body,
    deadline,
  });
  const id = answer.status === 200 ? answer.body['id'] : undefined;
  if (typeof id === 'string') return { kind: kindOf(type), id };
  const refused = resultOf(answer);
  // A file that lies there twice harms nobody: there is no report to wait for.
  return refused.outcome === 'retry' ? { ...refused, uncertain: false } : refused;
}

async function download(
  agent: Agent,
  { url, content_type }: Attachment,
  signal: AbortSignal,
): Promise<Buffer | SendResult> {
  try {
    const { statusCode, headers, body } = await request(url, {
      dispatcher: agent,
      signal,
      headers: { 'accept-encoding': 'identity', 'user-agent': 'Inbox-Channels/1' },
    });
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > mostBytes || statusCode !== 200) break;
      chunks.push(chunk);
    }
    if (statusCode !== 200) {
      const reason = `The attachment could not be fetched: its URL answered ${statusCode}.`;
      return { outcome: statusCode >= 500 || statusCode === 429 ? 'retry' : 'failed', reason };
    }
    if (length > mostBytes) return failed('The attachment is larger than 16 MB.');
    const served = bareType(String(headers['content-type'] ?? content_type));
    if (served !== bareType(content_type) && served !== 'application/octet-stream') {
      return failed(`The attachment is ${served}, not ${bareType(content_type)} as it was said to be.`);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (refusalOf(error) === 'blocked_address')
      return failed('The attachment lies at an address that is not public.');
    return { outcome: 'retry', reason: 'The attachment could not be fetched.' };
  }
}

const failed = (reason: string): SendResult => ({ outcome: 'failed', reason });

const bareType = (type: string): string => type.split(';', 1)[0]!.trim().toLowerCase();

export function kindOf(contentType: string): Kind {
  const [family] = bareType(contentType).split('/', 1);
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document';
}

function multipart(fields: Record<string, string>, fileName: string, type: string, file: Buffer) {
  const boundary = `inbox-${randomBytes(12).toString('hex')}`;
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const safeName = fileName.replace(/[\r\n"\\]/g, '_');
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${safeName}"\r\ncontent-type: ${bareType(type)}\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(parts.join('') + head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

/** Media of a customer's message: the platform gives a URL that lives for minutes, and its bytes against the token. */
export async function openMedia(agent: Agent, channel: OpenChannel, externalId: string): Promise<Media> {
  if (!hasToken(channel)) throw new Error('the channel has no valid access_token');
  const begin = new AbortController();
  const tooLate = setTimeout(() => begin.abort(new Error('the platform took too long')), silenceMs);
  try {
    const found = await callGraph(agent, channel, {
      method: 'GET',
      path: encodeURIComponent(externalId),
      deadline: begin.signal,
    });
    const url = found.status === 200 ? found.body['url'] : undefined;
    if (typeof url !== 'string') throw new Error(`the platform gave no media: ${found.status ?? found.why}`);
    const { statusCode, headers, body } = await openGraph(agent, channel, {
      method: 'GET',
      path: url,
      deadline: begin.signal,
      silenceMs,
    });
    if (statusCode !== 200) {
      body.destroy();
      throw new Error(`the platform gave no media: ${statusCode}`);
    }
    const length = Number(headers['content-length']);
    return {
      contentType: String(headers['content-type'] ?? 'application/octet-stream'),
      bytes: Number.isNaN(length) ? undefined : length,
      stream: body,
    };
  } finally {
    clearTimeout(tooLate);
  }
}
