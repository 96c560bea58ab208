import { badRequest } from '../../errors.ts';
import { fromId, toId } from '../../ids.ts';

/**
 * How far a browser has read: the number of the last message of each conversation. A conversation's messages are
 * numbered under its lock, so a number says exactly what came before; a time or an id would not, since transactions
 * commit in any order.
 */
export type Cursor = Map<string, number>;

/** So many of the newest conversations are followed: a cursor stays short enough for a header. */
export const followed = 10;
/** More than are followed: ids and `created_at` come from two clocks, and may disagree about which are the newest. */
const remembered = 2 * followed;

const malformed = () =>
  badRequest('The cursor is none that this service has given', [
    { field: 'after', rule: 'cursor', message: 'must be a cursor as it was given' },
  ]);

/** `conv_…:12,conv_…:3`; nothing at all: from the beginning. */
export function readCursor(text: string): Cursor {
  const cursor: Cursor = new Map();
  if (text === '') return cursor;
  for (const part of text.split(',', remembered)) {
    const [, id = '', seq] = /^(\w+):(\d{1,9})$/.exec(part) ?? [];
    const uuid = fromId('conversation', id);
    if (uuid === undefined) throw malformed();
    cursor.set(uuid, Number(seq));
  }
  return cursor;
}

/** UUIDv7 begins with its time: the newest conversations are the ones kept. */
export function writeCursor(cursor: Cursor): string {
  return [...cursor]
    .toSorted(([a], [b]) => (a < b ? 1 : -1))
    .slice(0, remembered)
    .map(([uuid, seq]) => `${toId('conversation', uuid)}:${seq}`)
    .join(',');
}
