import packageJson from '../../../package.json' with { type: 'json' };
import { statusOf, type ErrorCode } from '../../errors.ts';
import { maxPage, maxPerPage } from '../../page.ts';
import { plans } from '../authenticate.ts';
import { requestsPerMinute, withoutKeyPerMinute } from '../rate-limit.ts';
import { meaningOf } from './components.ts';

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const errorTable = table(
  ['Status', 'Code', 'When'],
  (Object.keys(statusOf) as ErrorCode[]).map((code) => [
    String(statusOf[code]),
    `\`${code}\``,
    meaningOf[code],
  ]),
);

const planTable = table(
  ['Plan', 'Requests a minute for each key'],
  plans.map((plan) => [`\`${plan}\``, requestsPerMinute[plan].toLocaleString('en')]),
);

/** What holds for every operation. The document carries it, and the page shows each heading as a section. */
const description = `\
A customer-conversation inbox: threads between a workspace and its contacts over channels, and signed webhooks
that tell your systems what happens in them.

## Authentication

Send an API key with every request: \`Authorization: Bearer <API_KEY>\`. A key belongs to one workspace and sees
nothing of any other. It has scopes; each operation needs exactly one, shown with it. A key may stand for an agent:
what it writes is then the agent's, else a bot's. Keys are made with \`POST /api_keys\` or on the command line, shown
once, and can expire or be revoked.

## Requests and answers

- Bodies are JSON in UTF-8, sent with \`Content-Type: application/json\`, up to 1 MiB and 32 levels deep.
- A success is \`{ "data": … }\`: an object, or an array with \`meta\` for lists. GET, PUT, PATCH and DELETE answer 200; a POST that creates answers 201.
- Fields that are not documented are ignored, so what was read can be changed and sent back.
- Timestamps are UTC with milliseconds, such as \`2026-11-15T09:30:00.000Z\`.
- Ids are opaque strings with a prefix for their kind: \`conv_\`, \`msg_\`, \`ct_\`, \`ch_\`, \`usr_\`, \`wh_\` and so on.
- Every answer has an \`X-Request-Id\`. Send one of your own and it comes back.

## Errors

An error has a code for programs, a message for people, and for each field at fault what to mend.

${errorTable}

Checks run in this order: key (401), rate (429), scope (403), and then the request itself.

## Pagination

Lists take \`page\` (from 1, at most ${maxPage.toLocaleString('en')}) and \`per_page\` (at most ${maxPerPage}), and answer \`meta\` with \`total\`,
\`page\`, \`per_page\` and \`total_pages\`. A \`Link\` header holds the addresses of the first, previous, next and last
page. A page past the end is empty and still has the true \`total\`.

## Rate limit

${planTable}

A window of 60 seconds opens with a key's first request. Every answer to a valid key says how it stands:
\`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (epoch seconds). Past the limit the answer is
429 with \`Retry-After\` in seconds; refused requests do not count. Requests without a valid key are limited to
${withoutKeyPerMinute} a minute for each client address.

## Idempotency

Send \`Idempotency-Key\` (up to 255 visible ASCII characters) with any POST, and a retry is safe: for 24 hours the same
key with the same request answers what the first one did, with \`Idempotent-Replayed: true\`, and changes nothing. The
same key with another request is a 422; while the first is still running, a 400. Errors are not kept.

## Versioning

The version is the \`/v1\` in the address. Within it only additions are made: new operations, optional parameters,
fields in answers and event types. Read what you know and ignore the rest. Before anything is removed, its answers carry
a \`Deprecation\` header and a \`Sunset\` header with the date for at least six months; a change that breaks clients gets
a new version beside this one.
`;

export const info = {
  title: 'Inbox',
  version: packageJson.version,
  summary: 'Customer conversations over every channel, as a JSON REST API.',
  description,
  license: { name: packageJson.license, identifier: packageJson.license },
};
