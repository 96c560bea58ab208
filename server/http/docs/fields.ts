import type { Schema } from '../openapi/types.ts';
import { Html, html } from './html.ts';
import { inline } from './markdown.ts';

interface Field {
  name: string;
  required: boolean;
  schema: Schema;
}

/** Every field of what a client sends, those of inner objects under their full name. */
export const inputTable = (schema: Schema, caption: string): Html =>
  fieldsTable(schema, caption, (required) => required && 'required');

/** Every field of what comes back: there the exception is one that may be absent. */
export const outputTable = (schema: Schema, caption: string): Html =>
  fieldsTable(schema, caption, (required) => !required && 'optional');

function fieldsTable(schema: Schema, caption: string, markOf: (required: boolean) => string | false): Html {
  const rows = fieldsOf(schema).map(({ name, required, schema }) => ({
    name,
    mark: markOf(required),
    schema,
    note: schema.description,
  }));
  return rowsTable(caption, rows);
}

export interface Row {
  name: string;
  mark?: string | false;
  schema: Schema;
  note?: string | undefined;
  /** Where it is sent, when not in the body. */
  place?: string;
}

export function rowsTable(caption: string, rows: Row[]): Html {
  return html`<table class="fields">
<caption>${caption}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning and rules</th></tr></thead>
<tbody>${rows.map(
    ({ name, mark, schema, note, place }) => html`<tr>
<th scope="row"><code>${name}</code>${place && html` <span class="place">${place}</span>`}${mark && html` <span class="${mark}">${mark}</span>`}</th>
<td>${typeOf(schema)}</td>
<td>${note !== undefined && html`<span>${inline(note)}</span> `}${rulesOf(schema).map((rule) => html`<span class="rule">${inline(rule)}</span> `)}</td>
</tr>`,
  )}</tbody>
</table>`;
}

function fieldsOf(schema: Schema, prefix = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const name = `${prefix}${key}`;
    const field = { name, required: schema.required?.includes(key) ?? false, schema: value };
    if (value.$ref !== undefined) return [field];
    const inner =
      (value.type === 'array' ? value.items : value.anyOf?.find((one) => one.properties)) ?? value;
    const path = value.type === 'array' ? `${name}[].` : `${name}.`;
    return [field, ...(inner.$ref === undefined ? fieldsOf(inner, path) : [])];
  });
}

export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) return objectLink(schema.$ref);
  if (schema.anyOf) return html`${join(schema.anyOf.map(typeOf), ' or ')}`;
  const types = [schema.type ?? 'any'].flat().map((type) => {
    if (type === 'array') return html`array of ${typeOf(schema.items ?? {})}`;
    return html`${type === 'string' && schema['format'] === 'date-time' ? 'timestamp' : type}`;
  });
  return html`${join(types, ' or ')}`;
}

const join = (parts: Html[], by: string): Html[] =>
  parts.flatMap((part, place) => (place === 0 ? [part] : [html`${by}`, part]));

/** `#/components/schemas/Contact` as a link to its table on the page. */
export function objectLink(ref: string): Html {
  const name = ref.split('/').at(-1) ?? '';
  return html`<a href="#object-${name}">${name}</a>`;
}

function rulesOf(schema: Schema): string[] {
  const {
    enum: values,
    default: fallback,
    const: only,
    pattern,
    minimum,
    maximum,
    maxLength,
    maxItems,
  } = schema as Rules;
  const [, prefix] = /^\^([a-z]+_)\[0-7\]/.exec(pattern ?? '') ?? [];
  const inner = schema.items && schema.items.$ref === undefined ? rulesOf(schema.items) : [];
  return [
    ...(values
      ? [
          `One of ${values
            .filter((value) => value !== null)
            .map((value) => `\`${value}\``)
            .join(', ')}.`,
        ]
      : []),
    ...(only === undefined ? [] : [`Always \`${only}\`.`]),
    ...(prefix ? [`Begins with \`${prefix}\`.`] : []),
    ...(minimum !== undefined && maximum !== undefined
      ? [`From ${minimum.toLocaleString('en')} to ${maximum.toLocaleString('en')}.`]
      : []),
    ...(maxLength === undefined ? [] : [`At most ${maxLength.toLocaleString('en')} characters.`]),
    ...(maxItems === undefined || schema.description?.includes(`at most ${maxItems}`)
      ? []
      : [`At most ${maxItems} entries.`]),
    ...(fallback === undefined ? [] : [`Default \`${fallback}\`.`]),
    ...inner.map((rule) => `Each: ${rule.charAt(0).toLowerCase()}${rule.slice(1)}`),
  ];
}

interface Rules {
  enum?: (string | number | null)[];
  default?: string | number | boolean;
  const?: string | boolean;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
}
