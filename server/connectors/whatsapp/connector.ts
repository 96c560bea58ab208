import { Agent } from 'undici';
import type { Context } from '../../context.ts';
import { placeholdersOf } from '../../templates/render.ts';
import type { Connector, Outgoing, Recipient, SendResult, Template } from '../connector.ts';
import { usableExternalId } from '../external-id.ts';
import { resultOf } from './errors.ts';
import { callGraph, hasToken } from './graph.ts';
import { kindOf, openMedia, uploadMedia } from './media.ts';
import { parse } from './parse.ts';
import { listTemplates } from './templates.ts';
import { handshake, verify } from './verify.ts';

/** The WhatsApp Cloud API. */
export function createWhatsappConnector(ctx: Pick<Context, 'egress'>): Connector {
  const agent = new Agent({
    connect: (options, callback) => ctx.egress.connector(options, callback),
    keepAliveTimeout: 15_000,
  });
  return {
    send: (message, deadline) => send(agent, message, deadline),
    webhook: { handshake, verify, parse },
    openMedia: (channel, externalId) => openMedia(agent, channel, externalId),
    listTemplates: (channel) => listTemplates(agent, channel),
    stop: () => agent.close(),
  };
}

async function send(agent: Agent, message: Outgoing, deadline: AbortSignal): Promise<SendResult> {
  const { channel, to } = message;
  const { phone_number_id } = channel.settings;
  if (typeof phone_number_id !== 'string' || !hasToken(channel)) {
    return {
      outcome: 'failed',
      reason: 'The channel is not set up: it needs phone_number_id and a valid access_token.',
    };
  }
  const number = numberOf(to);
  if (number === undefined) return { outcome: 'failed', reason: 'The contact has no phone number.' };
  const content = await contentOf(agent, message, phone_number_id, deadline);
  if ('outcome' in content) return content;

  const answer = await callGraph(agent, channel, {
    method: 'POST',
    path: `${encodeURIComponent(phone_number_id)}/messages`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: number,
      ...content,
      // Comes back with every status: so a message whose answer was lost is known to have left, and is not sent again.
      biz_opaque_callback_data: message.id,
    }),
    deadline,
  });
  if (answer.status === null || answer.status >= 300) return resultOf(answer);
  const [accepted] = Array.isArray(answer.body['messages']) ? (answer.body['messages'] as unknown[]) : [];
  const { id } = (accepted ?? {}) as { id?: unknown };
  return { outcome: 'sent', externalId: usableExternalId(id) };
}

/** The id they wrote with, else the phone number. Whoever came in over the API may have an id of another kind. */
function numberOf({ externalId, phone }: Recipient): string | undefined {
  return externalId !== null && /^\d+$/.test(externalId) ? externalId : phone?.replace(/^\+/, '');
}

async function contentOf(
  agent: Agent,
  { channel, content, template, attachments: [attachment] }: Outgoing,
  phoneNumberId: string,
  deadline: AbortSignal,
): Promise<object | SendResult> {
  if (template) return { type: 'template', template: templateOf(template) };
  if (!attachment) return { type: 'text', text: { preview_url: true, body: content } };
  if (content !== '' && kindOf(attachment.content_type) === 'audio') {
    return { outcome: 'failed', reason: 'WhatsApp shows no text beside audio: send them as two messages.' };
  }
  const uploaded = await uploadMedia(agent, channel, phoneNumberId, attachment, deadline);
  if ('outcome' in uploaded) return uploaded;
  const { kind, id } = uploaded;
  return {
    type: kind,
    [kind]: {
      id,
      ...(content !== '' && { caption: content }),
      ...(kind === 'document' && { filename: attachment.file_name }),
    },
  };
}

/** Numbered placeholders are filled by position, named ones by name. */
function templateOf({ name, language, body, variables }: Template): object {
  const names = placeholdersOf(body);
  const numbered = names.every((placeholder) => /^\d+$/.test(placeholder));
  const ordered = numbered ? names.toSorted((a, b) => Number(a) - Number(b)) : names;
  const parameters = ordered.map((placeholder) => ({
    type: 'text',
    ...(!numbered && { parameter_name: placeholder }),
    text: String(variables[placeholder]),
  }));
  return {
    name,
    language: { code: language },
    ...(parameters.length > 0 && { components: [{ type: 'body', parameters }] }),
  };
}
