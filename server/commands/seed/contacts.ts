import { digitsOf, searchTextOf } from '../../contacts/search.ts';
import { copyRow, text, textArray } from './copy-text.ts';
import { companies, type Locale, locales, mailDomains, tags } from './people.ts';
import type { Language } from './phrases.ts';
import { type Random, randomOf, unitOf } from './random.ts';
import { isoOf, yearMs } from './times.ts';
import type { UuidAt } from './uuids.ts';

/** Contacts exist before the oldest conversation begins, and keep coming until now. */
const spanMs = 1.2 * yearMs;

/** The contacts that conversations are with: made here, or found in the workspace. */
export interface ContactPool {
  /** One that already existed at that time, if any did. */
  pick(random: Random, atMs: number): { id: string; language: Language };
}

export interface ContactPlan {
  workspaceId: string;
  seed: number;
  /** How many the workspace has already: another run makes other people. */
  before: number;
  count: number;
  nowMs: number;
  uuidAt: UuidAt;
}

export const contactColumns =
  'contacts (workspace_id, id, name, phone, email, company, tags, custom_attributes, search, digits, created_at)';
export const contactTagColumns = 'contact_tags (workspace_id, tag, contact_created_at, contact_id)';

export function contactRows(
  plan: ContactPlan,
  from: number,
  to: number,
): { contacts: string[]; contactTags: string[] } {
  const contacts: string[] = [];
  const contactTags: string[] = [];
  for (let i = from; i < to; i++) {
    const contact = contactAt(plan, i);
    const { id, name, phone, email, company, tags, attributes, createdAt } = contact;
    const search = searchTextOf(contact);
    contacts.push(
      copyRow([
        plan.workspaceId,
        id,
        text(name),
        text(phone),
        text(email),
        text(company),
        textArray(tags),
        attributes,
        text(search),
        `{${digitsOf(plan.workspaceId, search).join(',')}}`,
        createdAt,
      ]),
    );
    for (const tag of tags) contactTags.push(copyRow([plan.workspaceId, text(tag), createdAt, id]));
  }
  return { contacts, contactTags };
}

function contactAt(plan: ContactPlan, i: number) {
  const n = plan.before + i;
  const random = randomOf(plan.seed, 'contact', n);
  const locale = localeAt(plan, i);
  const given = random.pick(locale.given);
  const family = random.pick(locale.family);
  const reach = random.unit();
  const createdMs = createdMsAt(plan, i);
  return {
    id: plan.uuidAt(createdMs, i),
    name: nameOf(random, locale, given.written, family.written),
    phone: reach < 0.88 ? phoneOf(locale.diallingCode, n) : null,
    email: reach > 0.12 ? `${given.latin}.${family.latin}${n}@${random.pick(mailDomains)}` : null,
    company: random.chance(0.4) ? random.pick(companies) : null,
    tags: tagsOf(random),
    attributes: random.chance(0.5)
      ? `{"language": "${locale.language}", "orders": ${random.below(40)}}`
      : '{}',
    createdAt: isoOf(createdMs),
  };
}

function nameOf(random: Random, locale: Locale, given: string, family: string): string {
  const second = random.pick(locale.given).written;
  if (locale.familyNameFirst) return `${family} ${given}`;
  return random.chance(0.35) && second !== given ? `${given} ${second} ${family}` : `${given} ${family}`;
}

/** No country gives out numbers that begin with three zeros: whatever is sent to these reaches nobody. */
function phoneOf(diallingCode: string, n: number): string {
  return `+${diallingCode}000${String((n * 48_271) % 10 ** 8).padStart(8, '0')}`;
}

function tagsOf(random: Random): string[] {
  const found = new Set<string>();
  for (let left = random.below(5) - 1; left > 0; left--) {
    found.add(tags[Math.floor(random.unit() * random.unit() * tags.length)]!);
  }
  return [...found];
}

const localeAt = ({ seed, before }: ContactPlan, i: number) =>
  locales[Math.floor(unitOf(seed, 'locale', before + i) * locales.length)]!;

function createdMsAt({ seed, before, count, nowMs }: ContactPlan, i: number): number {
  return Math.floor(nowMs - spanMs + ((i + unitOf(seed, 'since', before + i)) * spanMs) / count);
}

/** Nothing is kept: id and language of any contact follow from its number. */
export function madeContacts(plan: ContactPlan): ContactPool {
  const { count, nowMs, uuidAt } = plan;
  return {
    pick(random, atMs) {
      const existing = Math.floor((count * (atMs - nowMs + spanMs)) / spanMs);
      const i = random.below(Math.min(Math.max(existing, 1), count));
      return { id: uuidAt(createdMsAt(plan, i), i), language: localeAt(plan, i).language };
    },
  };
}

export function foundContacts(ids: string[]): ContactPool {
  return { pick: (random) => ({ id: random.pick(ids), language: 'en' }) };
}
