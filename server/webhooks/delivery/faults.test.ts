import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { eventually } from '../../../test/receiver.ts';
import {
  emitMany,
  killed,
  launchService,
  leaseRunsOut,
  recorded,
  service,
  startWorker,
  subscribed,
  waiting,
} from '../../../test/workers.ts';
import { createContact } from '../../contacts/contacts.ts';
import { newUuid } from '../../ids.ts';
import { claimDeliveries } from './queries.ts';

test('kill -9 after the 2xx and before our commit: sent again with the same ids and bytes, one final record', async () => {
  const { workspace, receiver } = await subscribed();
  const worker = await startWorker();
  const blocker = new pg.Client({ connectionString: service.databaseUrl });
  await blocker.connect();
  const answered = Promise.withResolvers<void>();
  receiver.answer((_received, response) => {
    // The row is locked before the answer goes out, so the worker cannot record it.
    void eventually(async () => {
      await blocker.query('begin');
      const { rowCount } = await blocker.query(
        'select from delivery_queue where workspace_id = $1 and claim_id is not null for update',
        [workspace.uuid],
      );
      if (rowCount !== 1) await blocker.query('rollback');
      assert.equal(rowCount, 1);
    }).then(() => response.end('ok', answered.resolve));
  });
  await workspace.request('POST', '/contacts', { name: 'Ada' });
  await answered.promise;
  await killed(worker);
  await blocker.query('rollback');
  await blocker.end();
  assert.equal(await waiting(workspace), 1);

  receiver.answer((_received, response) => void response.end('ok'));
  await leaseRunsOut(workspace);
  await startWorker();
  await receiver.waitFor(2);
  await eventually(async () => assert.equal(await waiting(workspace), 0));
  const [one, two] = receiver.received;
  assert.equal(one!.body, two!.body);
  assert.equal(one!.headers['webhook-id'], two!.headers['webhook-id']);
  assert.equal(one!.headers['x-service-delivery'], two!.headers['x-service-delivery']);
  assert.equal(two!.headers['x-service-attempt'], '1', 'the lost attempt was not spent');
  const [record, ...others] = await recorded(workspace);
  assert.deepEqual([record?.state, record?.attempts, record?.rows, others.length], ['delivered', 1, 1, 0]);
});

test('what was committed while no worker ran is delivered by the next one that starts', async () => {
  const { workspace, receiver } = await subscribed();
  for (const name of ['Ada', 'Grace', 'Mia']) await workspace.request('POST', '/contacts', { name });
  await startWorker();
  await receiver.waitFor(3);
});

test('a transaction that commits late is not passed over by one that began after it', async () => {
  const { workspace, receiver } = await subscribed();
  await startWorker();
  const inside = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const late = service.ctx.db.transaction(async (tx) => {
    await createContact(tx, workspace.uuid, { name: 'Late' });
    await tx.queryText('select 1', []); // everything sent has been executed
    inside.resolve();
    await goOn.promise;
  });
  await inside.promise;
  await workspace.request('POST', '/contacts', { name: 'Early' });
  await receiver.waitFor(1);
  goOn.resolve();
  await late;
  const all = await receiver.waitFor(2);
  assert.deepEqual(
    all.map(({ body }) => JSON.parse(body).data.contact.name),
    ['Early', 'Late'],
  );
});

test('a worker stopped past its lease while another finishes overwrites nothing when it goes on', async () => {
  const { workspace, receiver } = await subscribed();
  const sleeper = await startWorker();
  const held = Promise.withResolvers<void>();
  receiver.answer((received, response) => {
    if (receiver.received.length > 1) response.end('second');
    else void held.promise.then(() => response.writeHead(500).end('first'));
    return received;
  });
  await workspace.request('POST', '/contacts', { name: 'Ada' });
  await receiver.waitFor(1);
  await eventually(async () => {
    const rows = await service.sql(
      'select from delivery_queue where workspace_id = $1 and claim_id is not null',
      [workspace.uuid],
    );
    assert.equal(rows.length, 1);
  });
  sleeper.signal('SIGSTOP');
  await leaseRunsOut(workspace);
  await startWorker();
  await eventually(async () => {
    await endIdleTransactions();
    assert.equal(await waiting(workspace), 0);
  });
  assert.equal(receiver.received.length, 2);
  held.resolve();
  sleeper.signal('SIGCONT');
  await eventually(async () => {
    const metrics = await (await fetch(`${sleeper.origin}/metrics`)).text();
    assert.match(metrics, /^inbox_webhook_stale_completions_total 1$/m);
  });
  const [record, ...others] = await recorded(workspace);
  assert.deepEqual([record?.state, record?.attempts, record?.rows, others.length], ['delivered', 1, 1, 0]);
});

/** One that was stopped inside its next claim holds what it claimed; PostgreSQL ends such a session after 30 s. */
const endIdleTransactions = () =>
  service.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and state = 'idle in transaction' and state_change < now() - interval '1 s'`,
  );

test('backends killed again and again: the worker recovers by itself and loses nothing', async () => {
  const { workspace, receiver } = await subscribed();
  await startWorker();
  await emitMany(workspace, 300);
  for (let i = 0; i < 5; i++) {
    await service.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await eventually(async () => {
    await leaseRunsOut(workspace);
    assert.equal(await waiting(workspace), 0);
  }, 40_000);
  const names = new Set(receiver.received.map(({ body }) => JSON.parse(body).id));
  assert.equal(names.size, 300);
  assert.ok((await recorded(workspace)).every(({ state }) => state === 'delivered'));
});

test('a receiver that answers nothing, with thousands waiting, holds up no other', async () => {
  const dead = await subscribed();
  dead.receiver.answer(() => {});
  await emitMany(dead.workspace, 3_000);
  const live = await subscribed();
  const worker = await startWorker();
  await dead.receiver.waitFor(1);
  await emitMany(live.workspace, 300);
  await live.receiver.waitFor(300, 20_000);
  assert.ok(dead.receiver.received.length < 20, 'the dead one holds few slots');
  await killed(worker);
  await service.sql('delete from delivery_queue');
});

test('10,000 deliveries by two workers without a fault: each received exactly once', async () => {
  const { workspace, receiver } = await subscribed();
  await emitMany(workspace, 10_000);
  await Promise.all([startWorker(), startWorker()]);
  await eventually(async () => assert.equal(await waiting(workspace), 0), 60_000);
  assert.equal(receiver.received.length, 10_000);
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 10_000);
  assert.equal((await recorded(workspace)).filter(({ state }) => state === 'delivered').length, 10_000);
});

test('20 claimers over 4,000 deliveries, with an idle transaction open for long: each is claimed once', async () => {
  const { workspace } = await subscribed();
  const idle = new pg.Client({ connectionString: service.databaseUrl });
  await idle.connect();
  await idle.query('begin isolation level repeatable read');
  await idle.query('select count(*) from delivery_queue');
  await emitMany(workspace, 4_000);
  const [{ id: webhook }] = (await service.sql('select id from webhooks where workspace_id = $1', [
    workspace.uuid,
  ])) as [{ id: string }];
  const claimed: string[] = [];
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      for (;;) {
        const rows = await service.ctx.db.transaction((tx) =>
          claimDeliveries(tx, workspace.uuid, webhook, newUuid(), 50, 30),
        );
        if (rows.length === 0) return;
        claimed.push(...rows.map(({ id }) => id));
      }
    }),
  );
  assert.equal(claimed.length, 4_000);
  assert.equal(new Set(claimed).size, 4_000);
  await idle.query('rollback');
  await idle.end();
});

test('a process that only takes requests wakes a worker elsewhere: delivery does not wait for its poll', async () => {
  const { workspace, receiver } = await subscribed();
  await startWorker();
  const api = await launchService({ INBOX_ROLE: 'api' });
  const delays: number[] = [];
  for (let i = 1; i <= 20; i++) {
    const sent = performance.now();
    await api.request('POST', '/contacts', { name: `Contact ${i}` }, { key: workspace.key });
    await receiver.waitFor(i);
    delays.push(receiver.received[i - 1]!.at - sent);
  }
  // Left to the poll of every half second, half of them would take longer than a quarter.
  assert.ok(delays.toSorted((a, b) => a - b)[10]! < 250, `median ${delays[10]} ms`);
});

test('however long a receiver may take, its delivery is leased for longer', async () => {
  const { workspace, receiver } = await subscribed();
  receiver.answer(() => {});
  await startWorker({ INBOX_WEBHOOK_TIMEOUT_SECONDS: '300' });
  await workspace.request('POST', '/contacts', { name: 'Ada' });
  await receiver.waitFor(1);
  const seconds = await eventually(async () => {
    const [row] = await service.sql<{ seconds: number }>(
      `select extract(epoch from leased_until - now())::float8 as seconds from delivery_queue
       where workspace_id = $1 and claim_id is not null`,
      [workspace.uuid],
    );
    return row!.seconds;
  });
  assert.ok(seconds > 300, `${seconds} s`);
});
