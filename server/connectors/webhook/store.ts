import type { Context } from '../../context.ts';
import type { Attachment } from '../../conversations/messages/schema.ts';
import type { Tx } from '../../db/client.ts';
import { fromId, newUuid, toId } from '../../ids.ts';
import type { CallableChannel } from '../callable.ts';
import type { Inbound, InboundFromPlatform } from '../connector.ts';
import { receiveMessage } from '../inbound/inbound.ts';
import { insertMedia } from '../media/queries.ts';
import { applyStatus, findPhone } from './queries.ts';

/**
 * Each message and each report in a transaction of its own, in the order they came: what was stored before a failure
 * stays, and when the platform sends the whole again it is recognised. Any order and any number of repeats end the same.
 */
export async function storeInbound(
  { db }: Pick<Context, 'db'>,
  channel: CallableChannel,
  { messages, statuses }: Inbound,
  baseUrl: string,
): Promise<{ stored: number; repeated: number; unknownStatuses: number }> {
  const { workspaceId } = channel;
  let repeated = 0;
  let unknownStatuses = 0;
  for (const message of messages) {
    const { externalId, phones, name } = message.from;
    const received = await db.transaction(async (tx) =>
      receiveMessage(tx, workspaceId, channel, {
        from: { external_id: externalId, phone: await knownPhone(tx, workspaceId, phones), name },
        content: message.content,
        attachments: () => keepMedia(tx, channel, message, baseUrl),
        external_id: message.externalId,
        sentAt: message.sentAt,
      }),
    );
    if (received.repeated) repeated += 1;
  }
  for (const { externalId, messageId, status, error } of statuses) {
    const found = await db.transaction((tx) =>
      applyStatus(tx, workspaceId, channel.id, {
        externalId,
        messageId: messageId === undefined ? undefined : fromId('message', messageId),
        status,
        error,
      }),
    );
    if (!found) unknownStatuses += 1;
  }
  return { stored: messages.length - repeated, repeated, unknownStatuses };
}

/** The way a contact here has it written, where there is one; else the likeliest. */
async function knownPhone(tx: Tx, workspaceId: string, phones: string[]): Promise<string | null> {
  const found = phones.length > 1 ? await findPhone(tx, workspaceId, phones) : undefined;
  return found ?? phones[0] ?? null;
}

function keepMedia(
  tx: Tx,
  { workspaceId, id: channelId }: CallableChannel,
  { media }: InboundFromPlatform,
  baseUrl: string,
): Attachment[] {
  return media.map(({ externalId, contentType, fileName }) => {
    const id = newUuid();
    insertMedia(tx, workspaceId, { id, channelId, externalId, contentType, fileName });
    return {
      url: `${baseUrl}/v1/media/${toId('media', id)}`,
      content_type: contentType,
      file_name: fileName,
    };
  });
}
