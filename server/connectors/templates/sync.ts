import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../context.ts';
import type { Tx } from '../../db/client.ts';
import { newUuid, toId } from '../../ids.ts';
import { countTemplates } from '../../templates/queries.ts';
import { keepWithinLimit } from '../../workspaces/limit.ts';
import { openRow } from '../callable.ts';
import type { OpenChannel, PlatformTemplate } from '../connector.ts';
import { type Connectors, createConnectors, stopConnectors } from '../registry.ts';
import {
  insertSynced,
  listSynced,
  lockSync,
  type SyncedRow,
  takeDueChannel,
  updateSynced,
} from './queries.ts';

export interface SyncResult {
  created: number;
  updated: number;
  archived: number;
}

/** Brings the platform's templates of one channel into /templates. undefined: there is nothing to ask, or nobody. */
export async function syncTemplates(
  { db }: Pick<Context, 'db'>,
  connectors: Connectors,
  channel: OpenChannel,
): Promise<SyncResult | undefined> {
  const found = await connectors[channel.type].listTemplates?.(channel);
  return found && db.transaction((tx) => storeTemplates(tx, channel.workspaceId, channel.id, found));
}

/** The channels whose templates were last asked for a while ago, one at a time, each by one process. */
export async function syncDueTemplates(ctx: Context): Promise<void> {
  const next = () => ctx.db.transaction(takeDueChannel);
  let row = await next();
  if (!row) return; // as nearly always: nothing is opened for it
  const connectors = createConnectors(ctx);
  try {
    for (; row; row = await next()) {
      const channel = openRow(ctx.vault, row);
      await syncTemplates(ctx, connectors, channel).catch((error: Error) =>
        ctx.log.warn(
          { channel: toId('channel', channel.id), reason: error.message },
          'templates were not synchronised',
        ),
      );
    }
  } finally {
    await stopConnectors(connectors);
  }
}

async function storeTemplates(
  tx: Tx,
  workspaceId: string,
  channelId: string,
  found: PlatformTemplate[],
): Promise<SyncResult> {
  await lockSync(tx, workspaceId, channelId);
  const known = await listSynced(tx, workspaceId, channelId);
  const result = { created: 0, updated: 0, archived: 0 };
  const seen = new Set<SyncedRow>();
  for (const template of found) {
    const before = rowOf(
      known.filter((row) => !seen.has(row)),
      template,
    );
    if (!before) {
      insertSynced(tx, workspaceId, channelId, { id: newUuid(), archived: false, ...template });
      result.created += 1;
      continue;
    }
    seen.add(before);
    // One that was archived here stays so; one that was gone from the platform is back.
    const archived = before.archived && before.externalId !== null;
    const after = { ...before, ...template, archived };
    if (isDeepStrictEqual(before, after)) continue;
    updateSynced(tx, workspaceId, after);
    result.updated += 1;
  }
  for (const row of known) {
    if (row.externalId === null || seen.has(row)) continue;
    updateSynced(tx, workspaceId, { ...row, archived: true, externalId: null });
    if (!row.archived) result.archived += 1;
  }
  if (result.created + result.updated > 0) {
    await keepWithinLimit(tx, workspaceId, 'templates', countTemplates, [workspaceId, false]);
  }
  return result;
}

/** What the platform does not know yet, or no longer, is recognised by name and language. */
const rowOf = (known: SyncedRow[], { externalId, name, language }: PlatformTemplate): SyncedRow | undefined =>
  known.find((row) => row.externalId === externalId) ??
  known.find((row) => row.externalId === null && row.name === name && row.language === language);
