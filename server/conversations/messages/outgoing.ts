import { channelTypes } from '../../channels/types.ts';
import type { Reader } from '../../db/client.ts';
import { badRequest, invalid } from '../../errors.ts';
import { referenced } from '../../references.ts';
import { findTemplate } from '../../templates/queries.ts';
import { renderTemplate } from '../../templates/render.ts';
import type { ThreadRow } from '../queries.ts';
import { replyWindow } from '../reply-window.ts';
import type { UsedTemplate } from './queries.ts';
import type { Attachment, NewMessage } from './schema.ts';

/** The text that will be stored and sent, from plain text or from a template. `field` leads the names of fields. */
export async function outgoingText(
  db: Reader,
  workspaceId: string,
  conversation: ThreadRow,
  { content, template_id, template_variables, attachments = [], private: isNote }: NewMessage,
  field: string,
): Promise<{ content: string; template: UsedTemplate | null }> {
  if (!isNote) {
    checkAttachments(attachments, conversation, `${field}attachments`);
    checkCaption(attachments, content ?? '', conversation, `${field}content`);
  }
  if (template_id !== undefined) {
    if (attachments.length > 0) {
      throw invalid(`${field}attachments`, 'template', 'A template cannot carry attachments');
    }
    if (isNote) throw invalid(`${field}private`, 'template', 'A private note cannot be a template');
    if (content !== undefined) {
      throw invalid(`${field}content`, 'exclusive', `Send ${field}content or ${field}template_id, not both`);
    }
    const text = await templateText(
      db,
      workspaceId,
      conversation,
      template_id,
      template_variables ?? {},
      field,
    );
    checkText(text.content, conversation, `${field}template_variables`);
    return text;
  }
  if (content === undefined && attachments.length === 0) {
    const message = `${field}content is required unless ${field}template_id or attachments are sent`;
    throw badRequest(message, [{ field: `${field}content`, rule: 'required', message }]);
  }
  if (content) checkText(content, conversation, `${field}content`);
  else if (attachments.length === 0)
    throw invalid(`${field}content`, 'not_blank', `${field}content must not be empty`);
  if (!isNote && !replyWindow(conversation).open) {
    throw invalid(
      `${field}content`,
      'reply_window',
      'The customer has not written in the last 24 hours, so this channel takes templates only: send template_id',
    );
  }
  return { content: content ?? '', template: null };
}

/** Counted in characters, not in UTF-16 units; no count is needed where the units already fit. */
export function checkText(
  content: string,
  { channel_type }: Pick<ThreadRow, 'channel_type'>,
  field: string,
): void {
  if (content.trim() === '') throw invalid(field, 'not_blank', `${field} must not be empty`);
  const { maxTextLength } = channelTypes[channel_type];
  if (content.length > maxTextLength && Array.from(content).length > maxTextLength) {
    throw invalid(
      field,
      'maxLength',
      `${field} must have at most ${maxTextLength} characters on a channel of type ${channel_type}`,
    );
  }
}

function checkAttachments(attachments: Attachment[], { channel_type }: ThreadRow, field: string): void {
  const { most, types } = channelTypes[channel_type].attachments;
  if (attachments.length > most) {
    const rule = `takes at most ${most} attachment${most === 1 ? '' : 's'} a message`;
    throw invalid(field, 'maxItems', `A channel of type ${channel_type} ${rule}`);
  }
  for (const [place, { content_type }] of attachments.entries()) {
    if (types === null || types.includes(content_type.split(';', 1)[0]!.trim().toLowerCase())) continue;
    const name = `${field}.${place}.content_type`;
    throw invalid(name, 'content_type', `${name} must be one of ${types.join(', ')} on ${channel_type}`);
  }
}

function checkCaption(
  attachments: Attachment[],
  content: string,
  { channel_type }: ThreadRow,
  field: string,
): void {
  const { maxCaptionLength = Number.POSITIVE_INFINITY, captionless } = channelTypes[channel_type].attachments;
  if (content === '' || attachments.length === 0) return;
  if (captionless && attachments.some(({ content_type }) => content_type.startsWith(captionless))) {
    throw invalid(field, 'caption', `${channel_type} shows no text beside audio: send them as two messages`);
  }
  if (Array.from(content).length > maxCaptionLength) {
    const rule = `must have at most ${maxCaptionLength} characters beside an attachment on ${channel_type}`;
    throw invalid(field, 'maxLength', `${field} ${rule}`);
  }
}

async function templateText(
  db: Reader,
  workspaceId: string,
  conversation: ThreadRow,
  templateId: string,
  variables: Record<string, unknown>,
  field: string,
): Promise<{ content: string; template: UsedTemplate }> {
  const name = `${field}template_id`;
  const template = await referenced(name, 'template', templateId, (id) => findTemplate(db, workspaceId, id));
  if (template.channel_id !== null && template.channel_id !== conversation.channel_id) {
    throw invalid(name, 'channel', `${name} names a template of another channel`);
  }
  if (template.status !== 'approved') {
    throw invalid(
      name,
      'approved',
      `${name} names a template that is ${template.status}; only approved ones can be sent`,
    );
  }
  const rendered = renderTemplate(template.body, variables);
  if ('missing' in rendered) {
    const list = rendered.missing.join(', ');
    throw invalid(`${field}template_variables`, 'required', `${field}template_variables lacks ${list}`);
  }
  return { content: rendered.text, template: { id: template.id, variables } };
}
