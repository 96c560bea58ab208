import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { makeFolder, withCleanUp } from './clean-up.ts';
import { machine } from './machine.ts';
import { readOptions, wholeNumber } from './options.ts';
import { startService } from './service.ts';

/**
 * npm run bench:inbound: messages of 100 customers come in over a WhatsApp channel, 500 a second for `--seconds`, each
 * signed as the platform signs it and answered once it is stored. Then as many as the service takes.
 */
const given = readOptions([], ['seconds', 'rate']);
const seconds = wholeNumber('seconds', given.seconds, 30);
const rate = wholeNumber('rate', given.rate, 500);
const customers = 100;
const key = `bench_${randomBytes(16).toString('hex')}`;
const appSecret = randomBytes(16).toString('hex');
const dispatcher = new Agent({ connections: 64 });

await withCleanUp(async () => {
  const { origin } = await startService({
    INBOX_DATA_DIR: join(makeFolder(), 'data'),
    INBOX_API_KEY: key,
    INBOX_LOG_LEVEL: 'error',
  });
  const channelId = await makeChannel(origin);
  const url = `${origin}/v1/channels/${channelId}/webhook`;
  await load(url, rate, 5); // warm-up
  const steady = await load(url, rate, seconds);
  const most = await load(url, Number.POSITIVE_INFINITY, 10);
  console.log(JSON.stringify({ machine: machine(), steady, most }));
  await dispatcher.close();
});

async function makeChannel(origin: string): Promise<string> {
  const answer = await request(`${origin}/v1/channels`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      type: 'whatsapp',
      name: 'Bench',
      settings: { phone_number_id: '1', app_secret: appSecret },
    }),
  });
  const { data } = (await answer.body.json()) as { data: { id: string } };
  return data.id;
}

/** So many a second, or with no pause 64 at once. */
async function load(url: string, perSecond: number, forSeconds: number) {
  const started = performance.now();
  const end = started + forSeconds * 1000;
  const latencies: number[] = [];
  let errors = 0;
  let sent = 0;
  const post = async () => {
    const began = performance.now();
    const isOk = await send(url, sent++);
    latencies.push(performance.now() - began);
    if (!isOk) errors += 1;
  };
  if (Number.isFinite(perSecond)) {
    const pending: Promise<void>[] = [];
    for (let i = 0; i < perSecond * forSeconds; i++) {
      const wait = started + (i * 1000) / perSecond - performance.now();
      if (wait > 0) await sleep(wait);
      pending.push(post());
    }
    await Promise.all(pending);
  } else {
    const lane = async () => {
      while (performance.now() < end) await post();
    };
    await Promise.all(Array.from({ length: 64 }, lane));
  }
  const sorted = latencies.toSorted((a, b) => a - b);
  return {
    per_second: Math.round((1000 * sent) / (performance.now() - started)),
    errors,
    p50_ms: Math.round(sorted[Math.floor(sorted.length * 0.5)]!),
    p95_ms: Math.round(sorted[Math.floor(sorted.length * 0.95)]!),
  };
}

async function send(url: string, n: number): Promise<boolean> {
  const from = `4915100000${String(n % customers).padStart(3, '0')}`;
  const body = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '1',
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '1', phone_number_id: '1' },
              contacts: [{ profile: { name: `Customer ${n % customers}` }, wa_id: from }],
              messages: [
                {
                  from,
                  id: `wamid.${randomBytes(12).toString('hex')}`,
                  timestamp: String(Math.floor(Date.now() / 1000)),
                  type: 'text',
                  text: { body: `Message number ${n}` },
                },
              ],
            },
          },
        ],
      },
    ],
  });
  const signature = createHmac('sha256', appSecret).update(body).digest('hex');
  const answer = await request(url, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
    body,
  });
  await answer.body.dump();
  return answer.statusCode === 200;
}
