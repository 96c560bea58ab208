import { serviceSignature } from '../../webhooks/delivery/sign.ts';
import type { Examples } from '../openapi/examples.ts';
import { type ApiDocument, type Operation, type Parameter, resolve, type Schema } from '../openapi/types.ts';
import { codeBlock, jsonCode, panel } from './code.ts';
import { outputTable, rowsTable } from './fields.ts';
import { Html, html } from './html.ts';
import { markdown } from './markdown.ts';

/** What every delivery has in common: its headers, and a signature to try one's code on. */
export function deliveries(document: ApiDocument, examples: Examples): Html {
  const [first] = Object.values(document.webhooks);
  const headers = (first?.post.parameters ?? []).map((parameter) => resolve<Parameter>(document, parameter));
  return html`${rowsTable(
    'Headers of every delivery',
    headers.map(({ name, schema, description }) => ({ name, schema, note: description })),
  )}${signatureExample(examples)}`;
}

function signatureExample({ operations, events }: Examples): Html | undefined {
  const created = operations.find(({ operationId }) => operationId === 'createWebhook');
  const secret = (created?.answer.body as { data?: { secret?: string } } | undefined)?.data?.secret;
  if (secret === undefined || events['contact.created'] === undefined) return undefined;
  const body = JSON.stringify(events['contact.created']);
  const signature = serviceSignature(secret, Buffer.from(body));
  return html`<h3 id="signature">Try your check</h3>
<p>With the secret <code>${secret}</code> this body</p>
<div class="wrap">${codeBlock(body)}</div>
<p>has the signature</p>
<div class="wrap">${codeBlock(signature)}</div>`;
}

export function eventSection(document: ApiDocument, operation: Operation): Html {
  const { operationId, summary, description = '', requestBody } = operation;
  const media = requestBody?.content['application/json'];
  const schema = media && resolve<Schema>(document, media.schema);
  const [example] = Object.values(media?.examples ?? {});
  return html`<section class="operation" id="${operationId}">
<div class="text">
<h3><a href="#${operationId}"><code>${summary}</code></a></h3>
${markdown(description)}
${schema && outputTable(schema, 'Body')}
</div>
<div class="code">${example && panel('Body', jsonCode(example.value))}</div>
</section>`;
}
