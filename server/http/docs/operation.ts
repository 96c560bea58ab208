import type { Example } from '../openapi/examples.ts';
import { type ApiDocument, type Operation, type Parameter, resolve, type Schema } from '../openapi/types.ts';
import { curl, jsonCode, panel } from './code.ts';
import { inputTable, objectLink, rowsTable } from './fields.ts';
import { Html, html } from './html.ts';
import { markdown } from './markdown.ts';

export interface Located {
  method: string;
  path: string;
  operation: Operation;
}

export function operationSection(document: ApiDocument, located: Located, examples: Example[]): Html {
  const { method, path, operation } = located;
  const { operationId, summary, description = '' } = operation;
  const scope = scopeOf(operation);
  return html`<section class="operation" id="${operationId}">
<div class="text">
<h3><a href="#${operationId}">${summary}</a></h3>
<p class="route"><span class="method ${method}">${method.toUpperCase()}</span> <code>${breakable(path)}</code></p>
${markdown(withoutAccess(description))}
<p class="access">${scope === undefined ? 'No API key needed' : html`Scope <code>${scope}</code>`}</p>
${parametersTable(document, operation)}
${bodyTable(document, operation)}
${answers(operation)}
${errorList(operation)}
</div>
<div class="code">${exampleBlocks(located, examples)}</div>
</section>`;
}

export const scopeOf = ({ security = [] }: Operation): string | undefined =>
  Object.values(security[0] ?? {})[0]?.[0];

/** The document says it in words for other readers; here it has a place of its own. */
const withoutAccess = (description: string): string =>
  description.replace(/(?:^|\n\n)Needs (?:the scope `[^`]+`|no API key)\.$/, '');

/** A long path breaks before a slash. */
const breakable = (path: string): Html[] =>
  path.split(/(?=\/)/).map((segment, place) => (place === 0 ? html`${segment}` : html`<wbr>${segment}`));

function parametersTable(document: ApiDocument, { parameters = [] }: Operation): Html | undefined {
  const rows = parameters
    .map((parameter) => resolve<Parameter>(document, parameter))
    .map(({ name, required = false, schema, description, in: place }) => ({
      name,
      schema,
      note: description,
      place,
      ...(required && { mark: 'required' }),
    }));
  return rows.length > 0 ? rowsTable('Parameters', rows) : undefined;
}

function bodyTable(document: ApiDocument, { requestBody }: Operation): Html | undefined {
  const schema = requestBody?.content['application/json']?.schema;
  return schema && inputTable(resolve<Schema>(document, schema), 'Body');
}

/** What comes back, as a link to the object it holds. */
function answers({ responses }: Operation): Html[] {
  return Object.entries(responses).flatMap(([status, response]) => {
    if ('$ref' in response || Number(status) >= 300) return [];
    const schema = response.content?.['application/json']?.schema;
    const data = schema?.properties?.['data'];
    const what = data?.$ref ?? data?.items?.$ref;
    const holds =
      what && html`, <code>data</code> is ${data?.type === 'array' && 'a list of '}${objectLink(what)}`;
    return [
      html`<p class="answers"><span class="status ok">${status}</span> ${markdownLine(response.description)}${holds}</p>`,
    ];
  });
}

const markdownLine = (text: string): string => text.replace(/\.$/, '').replaceAll('`', '');

function errorList({ responses }: Operation): Html {
  const statuses = Object.keys(responses).filter((status) => Number(status) >= 400);
  return html`<p class="errors">Errors ${statuses.map((status) => html`<a class="status" href="#errors">${status}</a> `)}</p>`;
}

function exampleBlocks({ method, path, operation }: Located, examples: Example[]): Html[] {
  const needsKey = scopeOf(operation) !== undefined;
  const own = examples.filter(({ operationId }) => operationId === operation.operationId);
  if (own.length === 0) return [panel('Request', curl({ method: method.toUpperCase(), path }, needsKey))];
  return own.map(({ title, request, answer }, place) => {
    const shown = answer.body === undefined ? 'The bytes' : jsonCode(answer.body);
    const block = html`${panel('Request', curl(request, needsKey))}${panel(statusLine(answer.status), shown)}`;
    if (own.length === 1) return block;
    const failed = answer.status >= 400 && html` <span class="status">${answer.status}</span>`;
    return html`<details${place === 0 && html` open`}><summary>${title}${failed}</summary>${block}</details>`;
  });
}

const statusLine = (status: number): Html =>
  html`<span class="status ${status < 300 ? 'ok' : ''}">${status}</span> Answer`;
