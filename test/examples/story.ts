import { createHmac } from 'node:crypto';
import type { ErrorCode } from '../../server/errors.ts';
import type { Service, Workspace } from '../harness.ts';
import type { Tell, Telling } from './capture.ts';

/** Waits for the last attempt of a delivery. */
export type Ended = (deliveryId: string) => Promise<unknown>;

/** One day in a shop's inbox. Every operation of the interface comes up; what it answers becomes its example. */
export async function tellStory(tell: Tell, workspace: Workspace, ended: Ended): Promise<void> {
  await tell('getWorkspace');
  const settings = await settle(tell);
  const key = await handOutKeys(tell, workspace, settings.ada.id);
  await subscribe(tell, workspace, ended);
  const asAda: Tell = (operationId, telling) => tell(operationId, { key, ...telling });
  const conversationId = await converse(asAda, settings);
  await receivePhoto(asAda, workspace, settings.whatsapp.id, conversationId);
  await archive(tell, settings);
}

const appSecret = 'f0e1…';

/** Channels, people and texts. */
async function settle(tell: Tell) {
  const channel = await tell('createChannel', {
    body: { type: 'api', name: 'Shop' },
  });
  const whatsapp = await tell('createChannel', {
    title: 'A WhatsApp channel',
    body: {
      type: 'whatsapp',
      name: 'WhatsApp',
      settings: {
        phone_number_id: '106540352242922',
        business_account_id: '102290129340398',
        access_token: 'EAAGm0PX4ZCpsBA',
        app_secret: appSecret,
        verify_token: 'long and random',
      },
    },
  });
  await tell('listChannels');
  await tell('getChannel', { params: { id: whatsapp.id } });
  await tell('updateChannel', { params: { id: channel.id }, body: { after_resolved: 'new' } });

  const ada = await tell('createAgent', {
    body: { name: 'Ada Lovelace', email: 'ada@example.com', role: 'admin' },
  });
  const grace = await tell('createAgent', {
    title: 'Another agent',
    body: { name: 'Grace Hopper', email: 'grace@example.com' },
  });
  await tell('listAgents');
  await tell('getAgent', { params: { id: ada.id } });
  await tell('updateAgent', { params: { id: grace.id }, body: { role: 'admin' } });

  const team = await tell('createTeam', { body: { name: 'Support' } });
  await tell('listTeams');
  await tell('getTeam', { params: { id: team.id } });
  await tell('updateTeam', { params: { id: team.id }, body: { name: 'Customer care' } });

  const template = await tell('createTemplate', {
    body: {
      name: 'Order update',
      language: 'en',
      body: 'Hello {{name}}, your order {{order}} is on its way.',
    },
  });
  await tell('syncTemplates', { params: { id: whatsapp.id } });
  await tell('listTemplates');
  await tell('getTemplate', { params: { id: template.id } });
  await tell('updateTemplate', { params: { id: template.id }, body: { name: 'Order shipped' } });

  const label = await tell('createLabel', { body: { name: 'delivery', color: '#0f766e' } });
  await tell('listLabels');
  await tell('getLabel', { params: { id: label.id } });
  await tell('updateLabel', { params: { id: label.id }, body: { color: '#b45309' } });

  const attribute = await tell('createCustomAttribute', {
    body: { key: 'orders', type: 'number', label: 'Orders so far' },
  });
  await tell('listCustomAttributes');
  await tell('getCustomAttribute', { params: { id: attribute.id } });
  await tell('updateCustomAttribute', { params: { id: attribute.id }, body: { label: 'Orders' } });
  return { channel, whatsapp, ada, grace, team, template, label, attribute };
}

/** The key of an agent, which the rest of the story is told with. */
async function handOutKeys(tell: Tell, workspace: Workspace, agentId: string): Promise<string> {
  await tell('updateApiKey', { params: { id: workspace.keyId }, body: { name: 'First key' } });
  const { key } = await tell('createApiKey', {
    body: {
      name: 'Ada’s desk',
      agent_id: agentId,
      scopes: [
        'conversations:read',
        'conversations:write',
        'messages:read',
        'messages:write',
        'contacts:read',
        'contacts:write',
      ],
    },
  });
  const { id } = await tell('createApiKey', {
    title: 'A key that expires',
    body: { name: 'Nightly export', scopes: ['contacts:read'], expires_at: '2099-01-31T00:00:00.000Z' },
  });
  await tell('getApiKey', { params: { id } });
  await tell('revokeApiKey', { params: { id } });
  await tell('listApiKeys');
  return key;
}

async function subscribe(tell: Tell, workspace: Workspace, ended: Ended): Promise<void> {
  const { id } = await tell('createWebhook', {
    body: { url: 'https://hooks.example.com/inbox', events: ['message.created', 'conversation.resolved'] },
  });
  await tell('listWebhooks');
  await tell('getWebhook', { params: { id } });
  const delivery = await tell('testWebhook', { params: { id }, body: { event: 'message.created' } });
  await ended(delivery.id);
  await tell('getDelivery', { params: { id: delivery.id } });
  const again = await tell('redeliver', { params: { id: delivery.id } });
  await ended(again.id);
  await tell('listDeliveries', { params: { id } });
  await tell('rotateWebhookSecret', { params: { id } });

  // The receiver goes down and something gets lost, so that there is something to recover.
  await tell('updateWebhook', { params: { id }, body: { url: 'https://down.example.com/inbox' } });
  const lost = await workspace.request('POST', `/webhooks/${id}/test`, {});
  await ended(lost.body.data.id);
  await tell('recoverWebhook', { params: { id }, body: { since: '2026-01-01T00:00:00.000Z' } });
  await tell('deleteWebhook', { params: { id } });
}

type Settings = Awaited<ReturnType<typeof settle>>;

async function converse(tell: Tell, { channel, whatsapp, ada, team, template }: Settings): Promise<string> {
  const mia = await tell('createContact', {
    headers: { 'Idempotency-Key': 'import-4711' },
    body: {
      name: 'Mia Wong',
      phone: '+4915112345678',
      email: 'mia@example.com',
      tags: ['vip'],
      custom_attributes: { orders: 3 },
    },
  });
  const heard = await tell('receiveMessage', {
    params: { id: channel.id },
    body: {
      from: { phone: '+4915112345678', name: 'Mia Wong' },
      content: 'Hello, where is my order 1042?',
      external_id: 'wamid-81c2',
    },
  });
  await tell('receiveMessage', {
    title: 'The same message again',
    params: { id: channel.id },
    body: {
      from: { phone: '+4915112345678', name: 'Mia Wong' },
      content: 'Hello, where is my order 1042?',
      external_id: 'wamid-81c2',
    },
  });
  const { id } = heard.conversation;
  await tell('updateConversation', {
    params: { id },
    body: { status: 'pending', assignee_id: ada.id, team_id: team.id, labels: ['delivery'] },
  });
  await tell('listConversations', { query: { status: 'pending', assignee_id: ada.id } });
  await tell('getConversation', { params: { id } });
  const params = { conversation_id: id };
  await tell('sendMessage', {
    title: 'Text',
    params,
    headers: { 'Idempotency-Key': 'reply-1' },
    body: { content: 'Hello Mia, I’m looking into it.' },
  });
  await tell('sendMessage', {
    title: 'An internal note',
    params,
    body: { content: 'The carrier says Tuesday.', private: true },
  });
  await tell('sendMessage', {
    title: 'A template',
    params,
    body: { template_id: template.id, template_variables: { name: 'Mia', order: '1042' } },
  });
  await tell('listMessages', { params, query: { per_page: '3', order: 'desc' } });
  await tell('updateConversation', {
    title: 'Snooze until a time',
    params: { id },
    body: { status: 'snoozed', snoozed_until: '2099-01-31T08:00:00.000Z' },
  });
  await tell('updateConversation', { title: 'Resolve', params: { id }, body: { status: 'resolved' } });
  await tell('updateContact', {
    params: { id: mia.id },
    body: { company: 'Wong & Daughters', tags: ['vip', 'wholesale'], custom_attributes: { orders: 4 } },
  });
  await tell('getContact', { params: { id: mia.id } });
  await tell('listContacts', { query: { q: 'mia' } });
  await tell('createContact', {
    title: 'A phone number that is none',
    body: { name: 'Noah', phone: '0151 12345' },
  });
  await tell('createConversation', {
    title: 'Begin with a template',
    body: {
      contact_id: mia.id,
      channel_id: channel.id,
      message: { template_id: template.id, template_variables: { name: 'Mia', order: '1043' } },
      assignee_id: ada.id,
    },
  });
  const outbound = await tell('createConversation', {
    title: 'Without a message',
    body: { contact_id: mia.id, channel_id: whatsapp.id },
  });
  await tell('sendMessage', {
    title: 'Text when the reply window is closed',
    params: { conversation_id: outbound.id },
    body: { content: 'Your order has arrived.' },
  });
  return outbound.id;
}

/** The customer answers on WhatsApp, which only its platform could tell of. */
async function receivePhoto(
  tell: Tell,
  workspace: Workspace,
  channelId: string,
  conversationId: string,
): Promise<void> {
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550783881', phone_number_id: '106540352242922' },
    contacts: [{ wa_id: '4915112345678', profile: { name: 'Mia' } }],
    messages: [
      {
        id: 'wamid.HBgNNDkxNTExMjM0NTY3OBUCABIYFjNFQjA',
        from: '4915112345678',
        timestamp: '1763199000',
        type: 'image',
        image: { id: '1037543291543636', mime_type: 'image/jpeg', caption: 'Is this mine?' },
      },
    ],
  };
  const raw = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '102290129340398', changes: [{ field: 'messages', value }] }],
  });
  const signature = createHmac('sha256', appSecret).update(raw).digest('hex');
  const headers = { 'x-hub-signature-256': `sha256=${signature}` };
  await workspace.request('POST', `/channels/${channelId}/webhook`, undefined, { raw, headers });
  const [photo] = await tell('listMessages', {
    title: 'A message with media',
    params: { conversation_id: conversationId },
  });
  await tell('getMedia', { params: { id: photo.attachments[0].url.split('/').at(-1) } });
}

async function archive(tell: Tell, settings: Settings): Promise<void> {
  await tell('archiveCustomAttribute', { params: { id: settings.attribute.id } });
  await tell('archiveLabel', { params: { id: settings.label.id } });
  await tell('archiveTemplate', { params: { id: settings.template.id } });
  await tell('archiveTeam', { params: { id: settings.team.id } });
  await tell('archiveAgent', { params: { id: settings.grace.id } });
  await tell('archiveChannel', { params: { id: settings.channel.id } });
}

type Provoke = (code: ErrorCode, operationId: string, telling: Telling) => Promise<void>;

/** One of each. The last one takes a table away, so nothing can come after it. */
export async function provokeErrors(service: Service, provoke: Provoke): Promise<void> {
  const crowded = await service.workspace({ plan: 'starter' });
  const reader = await crowded.makeKey({ scopes: ['contacts:read'] });
  await provoke('bad_request', 'createContact', {
    title: 'A required field is missing',
    key: crowded.key,
    body: { phone: '+4915112345678' },
  });
  await provoke('unauthorized', 'listContacts', { title: 'A key that is not valid', key: 'nonsense' });
  await provoke('forbidden', 'createContact', {
    title: 'A key without the scope',
    key: reader,
    body: { name: 'Mia Wong' },
  });
  await provoke('not_found', 'getContact', {
    title: 'An id that names nothing',
    key: reader,
    params: { id: 'ct_01kjzz5m8xe2w9t4v6n0r3s1aq' },
  });
  await provoke('validation_error', 'createContact', {
    title: 'A field that breaks a rule',
    key: crowded.key,
    body: { name: 'Mia Wong', phone: '0151 12345' },
  });
  for (let left = 60; left > 0; left--) await service.request('GET', '/contacts', undefined, { key: reader });
  await provoke('rate_limited', 'listContacts', { title: 'Too many requests', key: reader });
  await service.sql('alter table contacts rename to contacts_away');
  await provoke('server_error', 'listContacts', { title: 'A fault of the service', key: crowded.key });
}
