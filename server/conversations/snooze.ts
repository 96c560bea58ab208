import type { Context } from '../context.ts';
import { statement } from '../db/client.ts';
import { changeConversation } from './change.ts';
import { systemSender } from './messages/sender.ts';
import { lockConversation } from './queries.ts';

const batchSize = 100;

/** `now()`, because an index is searched for a time that stands still: clock_timestamp() walked all that are snoozed. */
const findDue = statement<{ workspace_id: string; id: string }>(
  'conversations.find_due',
  `select workspace_id, id from conversations
   where status = 'snoozed' and snoozed_until is not null and snoozed_until <= now()
   order by snoozed_until limit ${batchSize}`,
);

/** Reopens what is due, however long ago, one transaction each. Whoever locks second finds it open and leaves it. */
export async function reopenDueSnoozes({ db }: Pick<Context, 'db'>): Promise<number> {
  let reopened = 0;
  for (;;) {
    const due = await db.query(findDue, []);
    for (const { workspace_id, id } of due) {
      await db.transaction(async (tx) => {
        const row = await lockConversation(tx, workspace_id, id);
        if (row?.status !== 'snoozed' || row.snoozed_until === null || row.snoozed_until > row.now) return;
        await changeConversation(tx, workspace_id, row, { status: 'open' }, systemSender);
        reopened++;
      });
    }
    if (due.length < batchSize) return reopened;
  }
}
