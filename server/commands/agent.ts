import { type Command, Option } from 'commander';
import { type AgentRow, insertAgent } from '../agents/queries.ts';
import type { Agent, Role } from '../agents/schema.ts';
import { toId } from '../ids.ts';
import { addCommand } from './command.ts';
import { chosenWorkspace } from './lookup.ts';
import { lines, print } from './output.ts';
import { withSession } from './session.ts';
import { emailValue, nameValue } from './usage.ts';

const roles: readonly Role[] = ['agent', 'admin'];

interface CreateOptions {
  workspace?: string;
  name: string;
  email?: string;
  role: Role;
  json?: boolean;
}

export function addAgent(program: Command): void {
  const group = program.command('agent').description('create agents, the people who answer');

  addCommand(group, {
    name: 'create',
    summary: 'create an agent',
    example: 'agent create --name "Ada Lovelace" --email ada@example.com --role admin',
  })
    .option('--workspace <id>', 'whose agent; not needed while there is one workspace')
    .requiredOption('--name <name>', 'as customers and colleagues see it', nameValue)
    .option('--email <address>', 'no two agents of a workspace share one', emailValue)
    .addOption(new Option('--role <role>', 'what the agent is').choices(roles).default('agent'))
    .action(({ workspace, name, email, role, json }: CreateOptions) =>
      withSession(async ({ db }) => {
        const { id: workspaceId } = await chosenWorkspace(db, workspace);
        const values = { name, email: email ?? null, role };
        const agent = agentOf(await db.transaction((tx) => insertAgent(tx, workspaceId, values)));
        print(
          json,
          agent,
          lines({ agent: agent.id, name: agent.name, 'e-mail': agent.email, role: agent.role }),
        );
      }),
    );
}

const agentOf = (row: AgentRow): Agent => ({
  id: toId('agent', row.id),
  name: row.name,
  email: row.email,
  role: row.role,
  archived: row.archived,
  created_at: row.created_at,
});
