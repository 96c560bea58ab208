import type { Tag } from './types.ts';

/** Also an example that runs: a test takes it from the document and checks a signed body with it. */
const verification = `\
import { createHmac, timingSafeEqual } from 'node:crypto';

// rawBody: the bytes of the body as they came, before any parsing
export function isGenuine(rawBody, signature, secret) {
  const expected = 'sha256=' + createHmac('sha256', secret).update(rawBody).digest('hex');
  const given = Buffer.from(String(signature));
  return given.length === expected.length && timingSafeEqual(given, Buffer.from(expected));
}`;

/** Every tag an operation may have, in the order of the document. */
export const tags: Tag[] = [
  {
    name: 'Conversations',
    description:
      'Threads between the workspace and one contact, over one channel. A conversation is `open`, `pending`, `resolved` or ' +
      '`snoozed`; a message from the customer reopens it.',
  },
  {
    name: 'Messages',
    description:
      'What is said in a conversation: `incoming` from the customer, `outgoing` from an agent or bot, `activity` for what ' +
      'the system notes. Internal notes are outgoing messages with `private: true`, which no customer sees.',
  },
  {
    name: 'Web chat',
    description:
      'What the widget of a `webchat` channel calls from a visitor’s browser, without an API key. A session gives a token that ' +
      'stands for the visitor on this channel, and the other three ask for it. Of use only to those who build a widget of ' +
      'their own.',
  },
  { name: 'Contacts', description: 'The people on the other side.' },
  {
    name: 'Webhooks',
    description: 'Where events are sent. What is sent, and how to check that it is genuine, is under Events.',
  },
  {
    name: 'Deliveries',
    description:
      'The log of what was sent to a webhook, attempt by attempt, for 30 days, and the ways to send it again. A delivery is ' +
      '`pending`, and then `delivered`, `failed` after its last attempt, or `cancelled` when its webhook was deleted.',
  },
  {
    name: 'Events',
    description: `\
Sent as a POST with a JSON body to every webhook that subscribed to the event type.

- Answer with a 2xx status within 10 seconds. Otherwise it is sent again after 5 seconds, 30 seconds, 2 minutes, 10 minutes and 30 minutes.
- An event can arrive twice, and events can overtake one another: \`id\` is the same on every retry, \`timestamp\` says when it happened.

**Check the signature.** \`X-Service-Signature\` is \`sha256=\` and the lowercase hexadecimal HMAC-SHA256 of the raw body,
keyed with the secret of the webhook. Compute it over the bytes as they came, compare in constant time, and refuse what
does not match. In Node.js:

\`\`\`js
${verification}
\`\`\`

The [Standard Webhooks](https://www.standardwebhooks.com) headers are sent too, for libraries that know them.`,
  },
  {
    name: 'Settings',
    description:
      'What conversations refer to: channels, agents, teams, templates, labels and custom attributes. DELETE archives: ' +
      'history keeps showing the record, nothing new can use it, and PATCH with `archived: false` brings it back.',
  },
  {
    name: 'Channels',
    description:
      'What the other side of a channel calls: its platform, or the browser of a visitor. Without an API key: a signature or a ' +
      'token of its own lets it in.',
  },
  { name: 'API keys', description: 'Who may call, and what they may do.' },
  { name: 'Documentation', description: 'This description, for machines and for people.' },
];
