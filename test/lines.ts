import type { ChannelType } from '../server/channels/types.ts';
import { create, dataOf, read } from './factory.ts';
import { type Client, clientFor, type Service, type Workspace } from './harness.ts';
import { receiverCa, startReceiver } from './receiver.ts';
import { makeWhatsapp } from './whatsapp.ts';

/** A channel with something real at its other end: what a test of every kind of channel needs to know of each. */
export interface Line {
  type: ChannelType;
  channelId: string;
  /** A customer writes; `id` is what the other side calls the message. */
  says(customer: number, text: string, id: string): Promise<void>;
  /** What a customer has got, in order. */
  got(customer: number): Promise<string[]>;
  /** The other side turns the next sends away, for now or for good. Missing: it has no way to. */
  turnAway?(how: 'for now' | 'for good', times: number): void;
}

export type OpenLine = (service: Service, workspace: Workspace) => Promise<Line>;

/** For `startService`: whom the service trusts and may reach. */
export const lineOptions = { egress: { ca: receiverCa } };

const openApi: OpenLine = async (_service, workspace) => {
  const receiver = await startReceiver();
  const { id: channelId } = await create(workspace, '/channels', {
    type: 'api',
    name: 'Shop',
    settings: { callback_url: receiver.url('/messages') },
  });
  let turned = { status: 200, times: 0 };
  const taken: { externalId: string; content: string }[] = [];
  receiver.answer(({ body }, response) => {
    if (turned.times-- > 0) {
      response.writeHead(turned.status).end();
      return;
    }
    const { contact, message } = JSON.parse(body);
    taken.push({ externalId: contact.external_id, content: message.content });
    response.end('{}');
  });
  return {
    type: 'api',
    channelId,
    async says(customer, content, id) {
      const from = { external_id: `customer ${customer}`, name: `Customer ${customer}` };
      const body = { from, content, external_id: id };
      const answer = await workspace.request('POST', `/channels/${channelId}/inbound`, body);
      dataOf(answer, answer.status === 200 ? 200 : 201);
    },
    got: async (customer) =>
      taken.filter(({ externalId }) => externalId === `customer ${customer}`).map(({ content }) => content),
    turnAway: (how, times) => void (turned = { status: how === 'for now' ? 503 : 422, times }),
  };
};

const openWhatsapp: OpenLine = async (service, workspace) => {
  const { id: channelId, emulator } = await makeWhatsapp(service, workspace, { statuses: 'off' });
  const phoneOf = (customer: number) => `49151${String(customer).padStart(8, '0')}`;
  return {
    type: 'whatsapp',
    channelId,
    async says(customer, body, id) {
      const from = phoneOf(customer);
      const { status } = await emulator.post(
        emulator.payload({
          contacts: [{ wa_id: from, profile: { name: `Customer ${customer}` } }],
          messages: [{ id: `wamid.${id}`, from, timestamp: epochSeconds(), type: 'text', text: { body } }],
        }),
      );
      if (status !== 200) throw new Error(`the webhook answered ${status}`);
      emulator.behaviour.windowErrors = 'off';
    },
    got: async (customer) =>
      emulator.sent
        .filter(({ to }) => to === phoneOf(customer))
        .map(({ body }) => (body['text'] as { body: string }).body),
    turnAway: (how, times) => emulator.failNext({ code: how === 'for now' ? 130429 : 131026, times }),
  };
};

const epochSeconds = () => String(Math.floor(Date.now() / 1000));

const openWebchat: OpenLine = async (service, workspace) => {
  const { id: channelId } = await create(workspace, '/channels', { type: 'webchat', name: 'Site' });
  const visitors = new Map<number, Promise<Client>>();
  const base = `${service.baseUrl}/channels/${channelId}/webchat`;
  const enter = async () => {
    const { token } = dataOf(await clientFor(base)('POST', '/session', {}), 201);
    return clientFor(base, token);
  };
  const visitorOf = (customer: number) => {
    const visitor = visitors.get(customer) ?? enter();
    visitors.set(customer, visitor);
    return visitor;
  };
  return {
    type: 'webchat',
    channelId,
    async says(customer, content, id) {
      const body = { content, external_id: id };
      const answer = await (await visitorOf(customer))('POST', '/messages', body);
      dataOf(answer, answer.status === 200 ? 200 : 201);
    },
    async got(customer) {
      const answer = await (await visitorOf(customer))('GET', '/messages');
      return dataOf(answer, 200)
        .messages.filter(({ from }: { from: string }) => from === 'agent')
        .map(({ content }: { content: string }) => content);
    },
  };
};

export const lines: Record<ChannelType, OpenLine> = {
  api: openApi,
  whatsapp: openWhatsapp,
  webchat: openWebchat,
};

let customers = 0;

/** A new customer and the conversation their first message began. */
export async function meet(workspace: Workspace, line: Line): Promise<{ customer: number; id: string }> {
  const customer = ++customers;
  await line.says(customer, `Hello from ${customer}`, `hello-${customer}`);
  const [conversation] = await read(workspace, `/conversations?channel_id=${line.channelId}`);
  return { customer, id: conversation.id };
}
