import assert from 'node:assert/strict';
import test from 'node:test';
import { verify } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { atEnd, startService } from '../../../test/harness.ts';
import { type Received, receiverCa, receiverEnv, startReceiver } from '../../../test/receiver.ts';
import { startDeliveryWorker } from './worker.ts';

const service = await startService({ env: receiverEnv, egress: { ca: receiverCa } });
const worker = startDeliveryWorker(service.ctx);
atEnd(() => worker.stop());

/** A workspace with a webhook of its own, and what that webhook's receiver gets. */
async function subscribed(events = ['contact.created']) {
  const workspace = await service.workspace();
  const receiver = await startReceiver();
  const { body } = await workspace.request('POST', '/webhooks', { url: receiver.url(), events });
  return { workspace, receiver, webhook: body.data as { id: string; secret: string } };
}

const standardHeaders = ({ headers }: Received) => ({
  'webhook-id': String(headers['webhook-id']),
  'webhook-timestamp': String(headers['webhook-timestamp']),
  'webhook-signature': String(headers['webhook-signature']),
});

const serviceSignatureHolds = (secret: string, { body, headers }: Received, name = 'x-service-signature') =>
  verify(secret, body, String(headers[name]));

test('X-Service-Signature is sha256= and the HMAC of the raw body under the secret as text', async () => {
  const { workspace, receiver, webhook } = await subscribed();
  await workspace.request('POST', '/contacts', { name: 'Zoë \u{1F98A} \u2028 محمد' });
  const [delivery] = await receiver.waitFor(1);
  assert.match(String(delivery!.headers['x-service-signature']), /^sha256=[0-9a-f]{64}$/);
  assert.equal(await serviceSignatureHolds(webhook.secret, delivery!), true);
  assert.equal(await serviceSignatureHolds('whsec_another', delivery!), false);
});

test('the Standard Webhooks headers verify with the reference library', async () => {
  const { workspace, receiver, webhook } = await subscribed();
  await workspace.request('POST', '/contacts', { name: 'Ada' });
  const [delivery] = await receiver.waitFor(1);
  const payload = new Webhook(webhook.secret).verify(delivery!.body, standardHeaders(delivery!));
  assert.deepEqual(payload, JSON.parse(delivery!.body));
});

test('every delivery names its event, its delivery and its attempt', async () => {
  const { workspace, receiver, webhook } = await subscribed();
  await workspace.request('POST', '/contacts', { name: 'Ada' });
  const [{ headers, body }] = (await receiver.waitFor(1)) as [Received];
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['x-service-event'], 'contact.created');
  assert.equal(headers['x-service-attempt'], '1');
  assert.match(String(headers['x-service-delivery']), /^dlv_/);
  assert.equal(headers['webhook-id'], JSON.parse(body).id);
  const { body: log } = await workspace.request('GET', `/webhooks/${webhook.id}/deliveries`);
  assert.equal(log.data[0].id, headers['x-service-delivery']);
  assert.equal(log.data[0].event_id, headers['webhook-id']);
});

test('after a rotation the new secret signs at once and the old one beside it for 24 hours', async () => {
  const { workspace, receiver, webhook } = await subscribed();
  const rotated = await workspace.request('POST', `/webhooks/${webhook.id}/rotate_secret`);
  assert.equal(rotated.status, 201);
  const { secret } = rotated.body.data;
  assert.notEqual(secret, webhook.secret);
  await workspace.request('POST', '/contacts', { name: 'Ada' });
  const [during] = (await receiver.waitFor(1)) as [Received];
  assert.equal(await serviceSignatureHolds(secret, during), true);
  assert.equal(await serviceSignatureHolds(webhook.secret, during, 'x-service-signature-previous'), true);
  for (const key of [secret, webhook.secret]) new Webhook(key).verify(during.body, standardHeaders(during));

  await service.sql(`update webhooks set previous_secret_until = now() - interval '1 s'`);
  await workspace.request('POST', '/contacts', { name: 'Grace' });
  const [, later] = (await receiver.waitFor(2)) as [Received, Received];
  assert.equal(later.headers['x-service-signature-previous'], undefined);
  assert.throws(() => new Webhook(webhook.secret).verify(later.body, standardHeaders(later)));
  assert.equal(await serviceSignatureHolds(secret, later), true);
});

test('secrets are never stored in the clear nor shown again', async () => {
  const { workspace, webhook } = await subscribed();
  const plain = Buffer.from(webhook.secret);
  const rows = await service.sql<{ sealed_secret: Buffer }>('select sealed_secret from webhooks');
  assert.ok(rows.every(({ sealed_secret }) => !sealed_secret.includes(plain)));
  for (const path of ['/webhooks', `/webhooks/${webhook.id}`]) {
    assert.ok(!(await workspace.request('GET', path)).text.includes(webhook.secret));
  }
});
