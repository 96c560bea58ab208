import assert from 'node:assert/strict';
import test from 'node:test';
import { withoutKeyPerMinute } from '../../server/http/rate-limit.ts';
import { inParallel } from '../factory.ts';
import { type Service, startService } from '../harness.ts';

const direct = await startService();
const behindProxy = await startService({ env: { INBOX_TRUST_PROXY: 'on' } });

const statusFor = async (service: Service, forwardedFor: string) =>
  (await service.request('GET', '/workspace', undefined, { headers: { 'x-forwarded-for': forwardedFor } }))
    .status;

/** Uses up the minute of one address. */
async function exhaust(service: Service, forwardedFor: string): Promise<void> {
  const statuses = await inParallel(Array.from({ length: withoutKeyPerMinute }), 10, () =>
    statusFor(service, forwardedFor),
  );
  assert.deepEqual(new Set(statuses), new Set([401]));
  assert.equal(await statusFor(service, forwardedFor), 429);
}

test('INBOX_TRUST_PROXY off: who sends is who connects, whatever X-Forwarded-For says', async () => {
  await exhaust(direct, '192.0.2.1');
  assert.equal(await statusFor(direct, '192.0.2.2'), 429);
});

test('INBOX_TRUST_PROXY on: the address that the proxy saw is limited, and no other', async () => {
  await exhaust(behindProxy, '192.0.2.1');
  assert.equal(await statusFor(behindProxy, '192.0.2.2'), 401);
});

test('INBOX_TRUST_PROXY on: what a client wrote into X-Forwarded-For itself does not make it another client', async () => {
  assert.equal(await statusFor(behindProxy, '198.51.100.7, 192.0.2.1'), 429);
});

test('INBOX_TRUST_PROXY on: the addresses of one IPv6 /64 are one client', async () => {
  await exhaust(behindProxy, '2001:db8::1');
  assert.equal(await statusFor(behindProxy, '2001:db8::2'), 429);
  assert.equal(await statusFor(behindProxy, '2001:db8:0:1::1'), 401);
});
