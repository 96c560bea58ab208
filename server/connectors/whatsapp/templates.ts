import type { Agent } from 'undici';
import type { TemplateStatus } from '../../templates/schema.ts';
import { type OpenChannel, PlatformError, type PlatformTemplate } from '../connector.ts';
import { reasonOf } from './errors.ts';
import { callGraph, hasToken } from './graph.ts';

const timeoutMs = 20_000;
const mostPages = 50;

interface TemplateOnPlatform {
  id?: unknown;
  name?: unknown;
  language?: unknown;
  status?: unknown;
  category?: unknown;
  components?: unknown;
}

/** Every template of the business account that has a text. A list that is not whole is none: what it lacks would be archived. */
export async function listTemplates(
  agent: Agent,
  channel: OpenChannel,
): Promise<PlatformTemplate[] | undefined> {
  const { business_account_id } = channel.settings;
  if (typeof business_account_id !== 'string' || !hasToken(channel)) return undefined;
  const deadline = AbortSignal.timeout(timeoutMs);
  const found = new Map<string, PlatformTemplate>();
  let after: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const query = new URLSearchParams({ fields: 'name,language,status,category,components', limit: '100' });
    if (after !== undefined) query.set('after', after);
    const path = `${encodeURIComponent(business_account_id)}/message_templates?${query.toString()}`;
    const { templates, next } = await askForPage(agent, channel, path, deadline);
    // A template made meanwhile moves the others along: one may stand on two pages.
    for (const template of templates.flatMap(templateOf)) found.set(template.externalId, template);
    if (next === undefined) return [...found.values()];
    after = next;
  }
  throw new PlatformError(`The business account has more than ${mostPages * 100} templates.`);
}

async function askForPage(
  agent: Agent,
  channel: OpenChannel,
  path: string,
  deadline: AbortSignal,
): Promise<{ templates: TemplateOnPlatform[]; next: string | undefined }> {
  const answer = await callGraph(agent, channel, { method: 'GET', path, deadline });
  if (answer.status === null) throw new PlatformError(`WhatsApp could not be reached (${answer.why}).`);
  if (answer.status !== 200) throw new PlatformError(reasonOf(answer.body.error ?? {}));
  const { data, paging } = answer.body as {
    data?: unknown;
    paging?: { next?: unknown; cursors?: { after?: unknown } } | null;
  };
  const next = paging?.next === undefined ? undefined : paging.cursors?.after;
  if (!Array.isArray(data) || (paging?.next !== undefined && typeof next !== 'string')) {
    throw new PlatformError('WhatsApp did not answer with a list of templates.');
  }
  return {
    templates: data.map((one) => (one ?? {}) as TemplateOnPlatform),
    next: next as string | undefined,
  };
}

function templateOf(given: TemplateOnPlatform): PlatformTemplate[] {
  const { id, name, language, status, category } = given;
  const components = (Array.isArray(given.components) ? given.components : []) as unknown[];
  const body = components
    .map((one) => (one ?? {}) as { type?: unknown; text?: unknown })
    .find(({ type }) => type === 'BODY')?.text;
  if (!isFilled(id) || !isFilled(name) || !isFilled(language) || !isFilled(body)) return [];
  return [
    {
      externalId: id,
      name,
      language,
      body,
      category: isFilled(category) ? category : null,
      status: statusOf(status),
    },
  ];
}

const isFilled = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** What may be sent is approved; what may yet be is pending; paused and disabled ones are as good as rejected. */
function statusOf(status: unknown): TemplateStatus {
  if (status === 'APPROVED') return 'approved';
  return status === 'PENDING' || status === 'IN_APPEAL' ? 'pending' : 'rejected';
}
