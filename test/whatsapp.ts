import { type Emulator, type EmulatorOptions, startEmulator } from '../emulator/whatsapp/emulator.ts';
import { startDispatchWorker } from '../server/connectors/dispatch/worker.ts';
import { create, type Data, read } from './factory.ts';
import { atEnd, type Service, type ServiceOptions, startService, type Workspace } from './harness.ts';

/** So that a service may talk to an emulator on this machine. */
export const emulatorEnv = { INBOX_EGRESS_ALLOW: '127.0.0.0/8', INBOX_ALLOW_HTTP_WEBHOOKS: 'on' };

/** A service that sends: with the worker that takes messages to their channels. */
export async function startSendingService(options: ServiceOptions = {}): Promise<Service> {
  const service = await startService({
    ...options,
    env: { ...emulatorEnv, INBOX_CHANNEL_RETRY_SECONDS: '0.05,0.05,0.05', ...options.env },
  });
  const worker = startDispatchWorker(service.ctx);
  atEnd(worker.stop);
  return service;
}

export interface WhatsappChannel {
  id: string;
  emulator: Emulator;
}

/** A channel and the platform at its other end. */
export async function makeWhatsapp(
  service: Pick<Service, 'baseUrl'>,
  workspace: Pick<Workspace, 'request'>,
  options: EmulatorOptions = {},
): Promise<WhatsappChannel> {
  const emulator = await startEmulator({ statusDelayMs: 0, retryDelaysMs: [5, 5], ...options });
  atEnd(() => emulator.close());
  const { id } = await create(workspace, '/channels', {
    type: 'whatsapp',
    name: 'WhatsApp',
    settings: emulator.channelSettings,
  });
  emulator.setWebhookUrl(`${service.baseUrl}/channels/${id}/webhook`);
  return { id, emulator };
}

/** Whoever is found by this phone number or name, each with their conversations. */
export async function customersFound(ws: Pick<Workspace, 'request'>, words: string): Promise<Data[]> {
  const contacts: Data[] = await read(ws, `/contacts?q=${encodeURIComponent(words)}&per_page=100`);
  return Promise.all(
    contacts.map(async (contact) => ({
      ...contact,
      conversations: await read(ws, `/conversations?contact_id=${contact.id}&per_page=100`),
    })),
  );
}

/** The only conversation with the only customer of this phone number or name. */
export async function conversationWith(ws: Pick<Workspace, 'request'>, words: string): Promise<Data> {
  const [customer, ...others] = await customersFound(ws, words);
  if (!customer || others.length > 0) throw new Error(`${words} is not one customer`);
  const [conversation, ...more] = customer.conversations;
  if (!conversation || more.length > 0) throw new Error(`${words} does not have one conversation`);
  return read(ws, `/conversations/${conversation.id}`);
}

/** The value of a counter under the label values given; 0 where it has not counted yet. */
export async function counted(origin: string, name: string, ...labels: string[]): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const line = text
    .split('\n')
    .find((one) => one.startsWith(`${name}{`) && labels.every((label) => one.includes(`"${label}"`)));
  return line === undefined ? 0 : Number(line.split(' ').at(-1));
}

let customers = 0;

/** The WhatsApp id of somebody new. */
export const newCustomer = (): string => String(4_915_100_000_000 + ++customers);
