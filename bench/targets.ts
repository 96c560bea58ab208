import type { Figure } from './scenario.ts';

/** Of a figure's ratio, in one run on two cores. */
type Target = { least: number } | { most: number };

const targets: Record<string, Target> = {
  list_conversations: { least: 0.6 },
  get_conversation: { least: 0.2 },
  send_message: { least: 0.5 },
  search_contacts: { most: 5 },
  list_messages: { most: 1.2 },
  deep_page: { most: 20 },
  walk_cursor: { most: 1.5 },
  memory_under_load: { most: 1 },
};
const growth: Target = { most: 1.5 };

/** A term that matches most contacts costs what it finds: reported only. */
const withoutTarget = new Set(['growth_search_contacts_common', 'growth_search_contacts_two_letter']);

export function judged({ name, ratio }: Pick<Figure, 'name' | 'ratio'>): { target?: string; met?: boolean } {
  const target =
    targets[name] ?? (name.startsWith('growth_') && !withoutTarget.has(name) ? growth : undefined);
  if (!target) return {};
  return 'least' in target
    ? { target: `≥ ${target.least}`, met: ratio >= target.least }
    : { target: `≤ ${target.most}`, met: ratio <= target.most };
}
