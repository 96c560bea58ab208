import { GraphError } from './errors.ts';
import { newObjectId } from './ids.ts';
import { changed, type Store, type Template } from './store.ts';
import { asText, isObject } from './values.ts';

export type NewTemplate = Pick<Template, 'name'> & Partial<Template> & { body?: string };

export interface Templates {
  list(): Template[];
  /** Approved, `en_US` and UTILITY unless told; `body` is short for a BODY component. */
  add(template: NewTemplate): Template;
  change(name: string, language: string, changes: Partial<Omit<Template, 'id'>>): Template;
  remove(name: string, language?: string): void;
}

export function createTemplates(store: Store): Templates {
  return {
    list: () => store.templates,
    add({ body, ...given }) {
      const template: Template = {
        id: newObjectId(),
        language: 'en_US',
        status: 'APPROVED',
        category: 'UTILITY',
        components: body === undefined ? [] : [{ type: 'BODY', text: body }],
        parameter_format: 'POSITIONAL',
        ...given,
      };
      store.templates.push(template);
      changed(store);
      return template;
    },
    change(name, language, changes) {
      const template = find(store, name, language);
      if (!template) throw new Error(`no template ${name} in ${language}`);
      Object.assign(template, changes);
      changed(store);
      return template;
    },
    remove(name, language) {
      store.templates = store.templates.filter(
        (one) => one.name !== name || (language !== undefined && one.language !== language),
      );
      changed(store);
    },
  };
}

function find(store: Store, name: unknown, language: unknown): Template | undefined {
  return store.templates.find((one) => one.name === name && one.language === language);
}

export function listTemplates(store: Store, url: URL, origin: string): Record<string, unknown> {
  const { searchParams } = url;
  const limit = Math.max(1, Number(searchParams.get('limit') ?? 25) || 25);
  const wanted = ['name', 'language', 'status', 'category'] as const;
  const matching = store.templates.filter((template) =>
    wanted.every((field) => template[field] === (searchParams.get(field) ?? template[field])),
  );
  const after = searchParams.get('after');
  const start = after === null ? 0 : matching.findIndex(({ id }) => cursorOf(id) === after) + 1;
  const page = matching.slice(start, start + limit);
  const [first, last] = [page[0], page.at(-1)];
  if (!first || !last) return { data: [] };
  const cursors = { before: cursorOf(first.id), after: cursorOf(last.id) };
  const next = new URL(`${url.pathname}${url.search}`, origin);
  next.searchParams.set('after', cursors.after);
  const more = start + limit < matching.length;
  return {
    data: page.map((template) => selectFields(template, searchParams.get('fields'))),
    paging: { cursors, ...(more && { next: next.href }) },
  };
}

function selectFields(template: Template, fields: string | null): Partial<Template> {
  if (fields === null) return template;
  const names = new Set(['id', ...fields.split(',').map((field) => field.trim())]);
  return Object.fromEntries(Object.entries(template).filter(([name]) => names.has(name)));
}

function cursorOf(id: string): string {
  return Buffer.from(`template ${id}`).toString('base64url');
}

/** Refuses what Meta would refuse to send. */
export function checkTemplate(store: Store, sent: Record<string, unknown>): void {
  const language = isObject(sent['language']) ? sent['language']['code'] : undefined;
  if (typeof sent['name'] !== 'string' || typeof language !== 'string')
    throw new GraphError(131008, { details: 'template name and language code are required' });
  const template = find(store, sent['name'], language);
  if (template?.status === 'PAUSED') throw new GraphError(132015);
  if (template?.status === 'DISABLED') throw new GraphError(132016);
  if (template?.status !== 'APPROVED')
    throw new GraphError(132001, {
      details: `template name (${sent['name']}) does not exist in ${language}`,
    });
  for (const component of template.components)
    if (component.text !== undefined) checkParameters(component.type, component.text, sent['components']);
}

function checkParameters(type: string, text: string, components: unknown): void {
  const variables = variablesOf(text);
  const given = parametersOf(type, components);
  const where = type.toLowerCase();
  if (given.length !== variables.length)
    throw new GraphError(132000, {
      details: `${where}: number of localizable_params (${given.length}) does not match the expected number of params (${variables.length})`,
    });
  const isNamed = variables.some((name) => !/^\d+$/.test(name));
  const names = new Set(given.map((parameter) => parameter['parameter_name']));
  if (isNamed && !variables.every((name) => names.has(name)))
    throw new GraphError(132012, { details: `${where}: Parameter name is missing or empty` });
  if (given.some(({ type, text }) => type === 'text' && (typeof text !== 'string' || text === '')))
    throw new GraphError(131008, { details: `${where}: Parameter of type text is missing text value` });
}

/** The text the customer sees. */
export function renderTemplate(store: Store, sent: Record<string, unknown>): string {
  const language = isObject(sent['language']) ? sent['language']['code'] : undefined;
  const components = find(store, sent['name'], language)?.components ?? [];
  return components
    .filter(({ text }) => text !== undefined)
    .map(({ type, text = '' }) => {
      const given = parametersOf(type, sent['components']);
      return text.replace(/\{\{\s*(\w+)\s*\}\}/g, (_all, name: string) => {
        const value = given.find((one) => one['parameter_name'] === name) ?? given[Number(name) - 1];
        return asText(value?.['text']);
      });
    })
    .join('\n');
}

function variablesOf(text: string): string[] {
  return [...new Set([...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name = '']) => name))];
}

function parametersOf(type: string, components: unknown): Record<string, unknown>[] {
  if (!Array.isArray(components)) return [];
  const component: unknown = components.find(
    (one) => isObject(one) && String(one['type']).toUpperCase() === type,
  );
  const parameters = isObject(component) ? component['parameters'] : [];
  return Array.isArray(parameters) ? parameters.filter(isObject) : [];
}
