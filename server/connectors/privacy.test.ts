import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { makeAgent, makeTeam, makeTemplate, messagesOf } from '../../test/factory.ts';
import { type Line, lineOptions, lines, meet } from '../../test/lines.ts';
import { eventually } from '../../test/receiver.ts';
import { startSendingService } from '../../test/whatsapp.ts';

const service = await startSendingService(lineOptions);
const ws = await service.workspace();
const opened: Line[] = [];
for (const open of Object.values(lines)) opened.push(await open(service, ws));
const agent = await makeAgent(ws);
const team = await makeTeam(ws);
const template = await makeTemplate(ws, { body: 'public template for {{name}}' });

/** Everything that can put something into a thread. */
const operations = {
  note: (n: number) => ['POST', '/messages', { content: `secret note ${n}`, private: true }],
  text: (n: number) => ['POST', '/messages', { content: `public text ${n}` }],
  status: (n: number) => ['PATCH', '', { status: ['open', 'pending', 'resolved', 'snoozed'][n % 4] }],
  labels: (n: number) => ['PATCH', '', { labels: [`secret label ${n % 3}`] }],
  assign: (n: number) => ['PATCH', '', { assignee_id: n % 2 ? agent.id : null }],
  team: (n: number) => ['PATCH', '', { team_id: n % 2 ? team.id : null }],
} satisfies Record<string, (n: number) => [string, string, object]>;

type Operation = keyof typeof operations | 'customer' | 'template';
const names: Operation[] = [
  ...(Object.keys(operations) as (keyof typeof operations)[]),
  'customer',
  'template',
];

for (const line of opened) {
  test(`${line.type}: whatever agents and customers do, customers get what was sent to them and nothing internal`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...names), { maxLength: 12 }), async (steps) => {
        const { customer, id } = await meet(ws, line);
        for (const [n, step] of steps.entries()) await act(line, customer, id, step, n);
        const thread = await messagesOf(ws, id);
        const meant = thread
          .filter(({ type, private: isPrivate }) => type === 'outgoing' && !isPrivate)
          .map(({ content }) => content);
        await eventually(async () => assert.deepEqual(await line.got(customer), meant));
        assert.ok(meant.every((content) => content.startsWith('public')));
      }),
      { numRuns: 5 },
    );
  });
}

async function act(line: Line, customer: number, id: string, step: Operation, n: number): Promise<void> {
  if (step === 'customer') return line.says(customer, `incoming ${n}`, `incoming-${customer}-${n}`);
  if (step === 'template') {
    if (line.type === 'whatsapp') return; // needs one of its platform's
    const body = { template_id: template.id, template_variables: { name: `Ada ${n}` } };
    const { status } = await ws.request('POST', `/conversations/${id}/messages`, body);
    assert.equal(status, 201);
    return;
  }
  const [method, path, body] = operations[step](n);
  const { status } = await ws.request(method, `/conversations/${id}${path}`, body);
  assert.ok(status === 200 || status === 201, `${step} answered ${status}`);
}
