import type { Examples } from '../openapi/examples.ts';
import { type ApiDocument, operationsOf, type Schema, type Tag } from '../openapi/types.ts';
import { baseUrlMark, curl, jsonCode, panel } from './code.ts';
import { deliveries, eventSection } from './events.ts';
import { outputTable } from './fields.ts';
import { Html, html } from './html.ts';
import { markdown } from './markdown.ts';
import { contents, slug } from './contents.ts';
import { type Located, operationSection } from './operation.ts';

/** The whole reference, rendered once. Only the address of the service is filled in for each reader. */
export function renderPage(document: ApiDocument, examples: Examples): (baseUrl: string) => string {
  const pieces = page(document, examples).text.split(baseUrlMark);
  return (baseUrl) => pieces.join(baseUrl);
}

function page(document: ApiDocument, examples: Examples): Html {
  const { info } = document;
  const [intro = '', ...conventions] = info.description.split(/^## /m);
  const sections = conventions.map(titled);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title} API reference</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%230f766e'/%3E%3Cpath d='M7 17h5l2 4h4l2-4h5' fill='none' stroke='white' stroke-width='2.5' stroke-linejoin='round'/%3E%3C/svg%3E">
<link rel="stylesheet" href="docs/style.css">
<script src="docs/script.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<button class="menu" type="button" popovertarget="contents">Contents</button>
<a class="brand" href="#main">${info.title} <span>API reference</span></a>
<span class="version">${info.version}</span>
<a class="download" href="openapi.json">OpenAPI</a>
</header>
<nav id="contents" popover aria-label="Contents">${contents(
    document,
    sections.map(({ title }) => title),
  )}</nav>
<main id="main">
<section class="intro" aria-labelledby="start">
<div class="text">
<h1 id="start">${info.title} API</h1>
${markdown(intro)}
</div>
<div class="code">${start()}</div>
</section>
${sections.map(
  ({ title, text }) => html`<section class="convention" aria-labelledby="${slug(title)}">
<div class="text">
<h2 id="${slug(title)}"><a href="#${slug(title)}">${title}</a></h2>
${markdown(text)}
</div>
<div class="code">${conventionExample(title, examples)}</div>
</section>`,
)}
${document.tags.map((tag) => tagSection(document, tag, examples))}
${objects(document)}
</main>
</body>
</html>
`;
}

function titled(section: string): { title: string; text: string } {
  const end = section.indexOf('\n');
  return { title: section.slice(0, end).trim(), text: section.slice(end) };
}

/** What a convention looks like on the wire. */
function conventionExample(title: string, { operations, errors }: Examples): Html | undefined {
  if (title === 'Errors') {
    const answer = errors.validation_error?.answer;
    return answer && panel(html`<span class="status">${answer.status}</span> Answer`, jsonCode(answer.body));
  }
  if (title === 'Pagination') {
    const answer = operations.find(({ operationId }) => operationId === 'listMessages')?.answer;
    const { meta } = (answer?.body ?? {}) as { meta?: object };
    const link = answer?.headers?.['Link']?.replaceAll(', ', ',\n  ');
    return meta && panel('Header and meta', html`Link: ${link}\n\n${jsonCode({ meta })}`);
  }
  return undefined;
}

/** Once the key is set, every command on the page works as it is. */
const start = (): Html => html`${panel('Your API key, once', "export INBOX_KEY='<API_KEY>'")}
${panel('Then, for example', curl({ method: 'GET', path: '/conversations' }, true))}`;

function tagSection(document: ApiDocument, { name, description }: Tag, examples: Examples): Html {
  const own: Located[] = operationsOf(document).filter(({ operation }) => operation.tags[0] === name);
  const events = Object.values(document.webhooks).filter(({ post }) => post.tags[0] === name);
  return html`<section class="tag" aria-labelledby="${slug(name)}">
<h2 id="${slug(name)}"><a href="#${slug(name)}">${name}</a></h2>
<div class="about">${markdown(description)}${events.length > 0 && deliveries(document, examples)}</div>
${own.map((located) => operationSection(document, located, examples.operations))}
${events.map(({ post }) => eventSection(document, post))}
</section>`;
}

/** The records that answers hold, once each. */
function objects(document: ApiDocument): Html {
  const isEvent = (name: string) => name.endsWith('Event');
  const shown = Object.entries(document.components.schemas).filter(([name]) => !isEvent(name));
  return html`<section class="tag" aria-labelledby="objects">
<h2 id="objects"><a href="#objects">Objects</a></h2>
${shown.map(
  ([name, schema]: [string, Schema]) => html`<section class="object" id="object-${name}">
<h3><a href="#object-${name}">${name}</a></h3>
${schema.description !== undefined && markdown(schema.description)}
${outputTable(schema, 'Fields')}
</section>`,
)}
</section>`;
}
