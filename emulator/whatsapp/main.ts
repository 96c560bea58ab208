import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startEmulator } from './emulator.ts';

/**
 * npm run whatsapp-emulator [-- --port 4000 --webhook-url http://127.0.0.1:3000/v1/channels/ch_…/webhook]
 * Each flag may also stand in the environment: --app-secret is WHATSAPP_EMULATOR_APP_SECRET.
 */
const flags = {
  port: 'where it listens (4000)',
  host: 'the address it listens on (127.0.0.1)',
  'tls-key': 'a PEM file; with tls-cert, HTTPS instead of HTTP',
  'tls-cert': 'a PEM file',
  'webhook-url': 'where the service takes webhooks; may be set on the page too',
  'phone-number-id': 'as in the channel',
  'business-account-id': 'as in the channel',
  'access-token': 'as in the channel',
  'app-secret': 'as in the channel',
  'verify-token': 'as in the channel',
  'display-phone-number': "the business's number",
  'verified-name': "the business's name",
} as const;
type Flag = keyof typeof flags;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    ...Object.fromEntries(Object.keys(flags).map((flag) => [flag, { type: 'string' as const }])),
  },
});
if (values.help) {
  for (const [flag, meaning] of Object.entries(flags)) console.log(`  --${flag.padEnd(22)}${meaning}`);
  process.exit();
}

const port = Number(setting('port') ?? 4000);
if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('--port must be a port number');
const emulator = await startEmulator({
  ...given('host', 'host'),
  ...given('webhookUrl', 'webhook-url'),
  ...given('phoneNumberId', 'phone-number-id'),
  ...given('businessAccountId', 'business-account-id'),
  ...given('accessToken', 'access-token'),
  ...given('appSecret', 'app-secret'),
  ...given('verifyToken', 'verify-token'),
  ...given('displayPhoneNumber', 'display-phone-number'),
  ...given('verifiedName', 'verified-name'),
  ...certificate(),
  port,
});

const channel = { type: 'whatsapp', name: 'WhatsApp (emulator)', settings: emulator.channelSettings };
console.log(`The WhatsApp emulator is at ${emulator.url} (a page to play the customer on).

A channel that talks to it; the service needs INBOX_EGRESS_ALLOW=127.0.0.0/8 and INBOX_ALLOW_HTTP_WEBHOOKS=on:

curl -X POST http://127.0.0.1:3000/v1/channels \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(channel)}'

${
  emulator.settings.webhookUrl === null
    ? 'Then set its webhook URL, http://127.0.0.1:3000/v1/channels/ch_…/webhook, on the page, or start again with --webhook-url.'
    : `Webhooks go to ${emulator.settings.webhookUrl}.`
}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void emulator.close());

function setting(flag: Flag): string | undefined {
  const value = (values as Partial<Record<Flag, string>>)[flag];
  return value ?? process.env[`WHATSAPP_EMULATOR_${flag.toUpperCase().replaceAll('-', '_')}`];
}

function certificate(): { tls?: { key: string; cert: string } } {
  const [key, cert] = [setting('tls-key'), setting('tls-cert')];
  if (key === undefined || cert === undefined) return {};
  return { tls: { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') } };
}

function given<K extends string>(option: K, flag: Flag): { [key in K]?: string } {
  const value = setting(flag);
  return (value === undefined ? {} : { [option]: value }) as { [key in K]?: string };
}
