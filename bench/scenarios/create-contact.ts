import type { LoadScenario } from './load-scenario.ts';

const body = JSON.stringify({
  name: 'Olivia Fitzgerald',
  email: 'olivia.{n}@example.com',
  company: 'Blue Harbor Logistics',
  tags: ['vip', 'newsletter'],
});

export const createContact: LoadScenario = {
  name: 'create_contact',
  calls: () => [{ method: 'POST', path: '/v1/contacts', body }],
  limit: 'sql',
};
