import { type Command, Option } from 'commander';
import { type Plan, plans } from '../http/authenticate.ts';
import { toId } from '../ids.ts';
import { insertWorkspace, updateWorkspacePlan, type WorkspaceRow } from '../workspaces/queries.ts';
import type { Workspace } from '../workspaces/schema.ts';
import { addCommand } from './command.ts';
import { found, listWorkspaces } from './lookup.ts';
import { lines, print, table } from './output.ts';
import { withSession } from './session.ts';
import { nameValue } from './usage.ts';

const planOption = () =>
  new Option('--plan <plan>', 'decides the requests a minute of each key').choices(plans);

export function addWorkspace(program: Command): void {
  const group = program.command('workspace').description('create, change and list workspaces');

  addCommand(group, {
    name: 'create',
    summary: 'create a workspace',
    example: 'workspace create --name "Acme" --plan pro',
  })
    .requiredOption('--name <name>', 'its name', nameValue)
    .addOption(planOption().default('starter'))
    .action(({ name, plan, json }: { name: string; plan: Plan; json?: boolean }) =>
      withSession(async ({ db }) =>
        show(json, await db.transaction((tx) => insertWorkspace(tx, name, plan))),
      ),
    );

  addCommand(group, {
    name: 'update',
    summary: 'change the plan of a workspace',
    about: 'The new limit holds within five seconds.',
    example: 'workspace update --id ws_01kcq2… --plan business',
  })
    .requiredOption('--id <id>', 'the workspace (see workspace list)')
    .addOption(planOption().makeOptionMandatory())
    .action(({ id, plan, json }: { id: string; plan: Plan; json?: boolean }) =>
      withSession(async ({ db }) => {
        const change = (uuid: string) => db.transaction((tx) => updateWorkspacePlan(tx, uuid, plan));
        show(json, await found('workspace', id, change));
      }),
    );

  addCommand(group, {
    name: 'list',
    summary: 'list all workspaces, oldest first',
    example: 'workspace list',
  }).action(({ json }: { json?: boolean }) =>
    withSession(async ({ db }) => {
      const data = (await listWorkspaces(db)).map(workspaceOf);
      const rows = data.map(({ id, name, plan, created_at }) => [id, name, plan, created_at]);
      print(json, { data }, table([['ID', 'NAME', 'PLAN', 'CREATED'], ...rows]));
    }),
  );
}

function show(json: boolean | undefined, row: WorkspaceRow): void {
  const workspace = workspaceOf(row);
  const { id, name, plan, created_at } = workspace;
  print(json, workspace, lines({ workspace: id, name, plan, created: created_at }));
}

const workspaceOf = (row: WorkspaceRow): Workspace => ({
  id: toId('workspace', row.id),
  name: row.name,
  plan: row.plan,
  created_at: row.created_at,
});
