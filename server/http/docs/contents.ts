import { type ApiDocument, type Operation, operationsOf } from '../openapi/types.ts';
import { Html, html } from './html.ts';

export const slug = (title: string): string => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** The list beside the page: conventions, then every operation under its tag. */
export function contents(document: ApiDocument, conventions: string[]): Html {
  const links = conventions.map((title) => html`<li><a href="#${slug(title)}">${title}</a></li>`);
  return html`<p class="group" id="nav-conventions">Conventions</p>
<ul aria-labelledby="nav-conventions">${links}</ul>
${document.tags.map(({ name }) => group(document, name))}
<p class="group"><a href="#objects">Objects</a></p>`;
}

interface Entry {
  method: string | undefined;
  /** The first part of the path: `/channels/{id}` is about channels. */
  resource: string;
  operation: Operation;
}

function group(document: ApiDocument, tag: string): Html {
  const id = `nav-${slug(tag)}`;
  const entries: Entry[] = [
    ...operationsOf(document).map(({ method, path, operation }) => ({
      method,
      resource: path.split('/')[1] ?? '',
      operation,
    })),
    ...Object.values(document.webhooks).map(({ post }) => ({
      method: undefined,
      resource: '',
      operation: post,
    })),
  ].filter(({ operation }) => operation.tags[0] === tag);
  const byResource = Map.groupBy(entries, ({ resource }) => resource);
  const isLarge = byResource.size > 3;
  return html`<p class="group" id="${id}"><a href="#${slug(tag)}">${tag}</a></p>
${[...byResource.values()].map(
  (some) => html`<ul${isLarge && html` class="resource"`} aria-labelledby="${id}">${some.map(entry)}</ul>`,
)}`;
}

const entry = ({ method, operation }: Entry): Html =>
  html`<li><a href="#${operation.operationId}">${
    method === undefined ? html`<code>${operation.summary}</code>` : operation.summary
  } ${method !== undefined && html`<span class="method ${method}">${method}</span>`}</a></li>`;
