import { toId } from '../../ids.ts';
import type { VisibleRow } from './queries.ts';
import type { WebchatMessage } from './schema.ts';

/** What a browser is told of a message, and nothing else of it. */
export function visibleMessage({
  id,
  type,
  author,
  content,
  attachments,
  created_at,
}: Visible): WebchatMessage {
  return {
    id: toId('message', id),
    from: type === 'incoming' ? 'visitor' : 'agent',
    author: type === 'incoming' ? null : author,
    content,
    attachments,
    created_at,
  };
}

type Visible = Pick<VisibleRow, 'id' | 'type' | 'author' | 'content' | 'attachments' | 'created_at'>;
