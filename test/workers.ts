import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'node:test';
import { createContact } from '../server/contacts/contacts.ts';
import { atEnd, startService, type Workspace } from './harness.ts';
import { type Child, external, launch, ready, type Running } from './operation/child.ts';
import { type Receiver, receiverCa, receiverEnv, startReceiver } from './receiver.ts';

/** The service that takes requests runs here and delivers nothing; workers are processes of their own, to be killed. */
const folder = mkdtempSync(join(tmpdir(), 'inbox-workers-'));
writeFileSync(join(folder, 'ca.pem'), receiverCa);
atEnd(async () => rmSync(folder, { recursive: true }));
export const service = await startService({ env: receiverEnv });

const launched = new Map<number, Child>();

export function launchService(env: Record<string, string>): Promise<Running> {
  const running = launch({
    ...external(service.databaseUrl),
    ...receiverEnv,
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    INBOX_LOG_LEVEL: 'error',
    ...env,
  });
  launched.set(running.pid, running);
  void running.ended.then(() => launched.delete(running.pid));
  return ready(running);
}

export const startWorker = (env: Record<string, string> = {}): Promise<Running> =>
  launchService({ INBOX_ROLE: 'worker', ...env });

export async function killed(worker: Child): Promise<void> {
  worker.signal('SIGKILL');
  await worker.ended;
}

/** A test that fails leaves no worker behind to take the work of the next one. */
afterEach(async () => {
  await Promise.all([...launched.values()].map(killed));
});

export async function subscribed(): Promise<{ workspace: Workspace; receiver: Receiver }> {
  const workspace = await service.workspace();
  const receiver = await startReceiver();
  await workspace.request('POST', '/webhooks', { url: receiver.url(), events: ['contact.created'] });
  return { workspace, receiver };
}

export const leaseRunsOut = ({ uuid }: Workspace) =>
  service.sql(`update delivery_queue set leased_until = now() - interval '1 s' where workspace_id = $1`, [
    uuid,
  ]);

export const waiting = async ({ uuid }: Workspace) =>
  (await service.sql('select from delivery_queue where workspace_id = $1', [uuid])).length;

/** How each delivery ended, and how many of its attempts are written down. */
export const recorded = async ({ uuid }: Workspace) =>
  service.sql<{ id: string; state: string; attempts: number; rows: number }>(
    `select d.id, d.state, d.attempts, (d.attempted_at is not null)::int + (select count(*) from delivery_attempts a
       where a.workspace_id = d.workspace_id and a.delivery_id = d.id) as rows
     from deliveries d where d.workspace_id = $1`,
    [uuid],
  );

/** Many events at once, each in the outbox as a request would leave it. */
export async function emitMany(workspace: Workspace, count: number): Promise<void> {
  for (let done = 0; done < count; done += 500) {
    await service.ctx.db.transaction(async (tx) => {
      const numbers = Array.from({ length: Math.min(500, count - done) }, (_, i) => done + i);
      await Promise.all(
        numbers.map((i) => createContact(tx, workspace.uuid, { name: `Contact ${i} \u{1F98A}\u2028` })),
      );
    });
  }
}
