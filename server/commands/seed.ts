import type { Command } from 'commander';
import { toId } from '../ids.ts';
import { addCommand } from './command.ts';
import { chosenWorkspace } from './lookup.ts';
import { lines, print } from './output.ts';
import { createProgress, number } from './seed/progress.ts';
import { withSession } from './session.ts';
import { countValue, UsageError } from './usage.ts';

const mostContacts = 20_000_000;
const mostConversations = 20_000_000;
const mostMessages = 500_000_000;

interface SeedOptions {
  workspace?: string;
  contacts: number;
  conversations: number;
  messages: number;
  longConversation: number;
  seed: number;
  json?: boolean;
}

export function addSeed(program: Command): void {
  addCommand(program, {
    name: 'seed',
    summary: 'fill a workspace with made-up contacts, conversations and messages',
    about:
      'For trials and benchmarks. The same --seed makes the same people and texts; ids and times are always new. ' +
      'Raises no events and sends nothing: webhooks hear nothing of these rows. Agents, teams, channels and labels ' +
      'are made where the workspace has none. Ctrl-C stops after the batch under way; what is there then is whole.',
    example: 'seed --contacts 100000 --conversations 100000 --messages 1000000',
  })
    .option('--workspace <id>', 'which one to fill; not needed while there is one workspace')
    .option('--contacts <n>', 'how many; 0: converse with those there are', countValue(mostContacts), 1_000)
    .option('--conversations <n>', 'how many', countValue(mostConversations), 2_000)
    .option('--messages <n>', 'how many in all conversations together', countValue(mostMessages), 10_000)
    .option(
      '--long-conversation <n>',
      'one more conversation, with this many messages',
      countValue(mostMessages),
      0,
    )
    .option('--seed <n>', 'what the data depends on', countValue(2 ** 31 - 1), 1)
    .action((options: SeedOptions) => run(options));
}

async function run({ workspace, json, ...wanted }: SeedOptions): Promise<void> {
  if (wanted.messages > 0 && wanted.conversations === 0) {
    throw new UsageError('--messages need conversations: add --conversations N, or --messages 0');
  }
  const { load } = await import('./seed/load.ts'); // as in serve.ts
  await withSession(async ({ db, databaseUrl: url }) => {
    const { id: workspaceId } = await chosenWorkspace(db, workspace);
    const total =
      wanted.contacts +
      wanted.conversations +
      wanted.messages +
      wanted.longConversation +
      (wanted.longConversation > 0 ? 1 : 0);
    const started = performance.now();
    const progress = createProgress(total, process.stderr);
    const interruption = new AbortController();
    const interrupt = () => interruption.abort();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
    let long: string | undefined;
    try {
      long = await load({ workspaceId, ...wanted }, { db, url, progress, signal: interruption.signal });
    } finally {
      progress.end();
    }
    const seconds = (performance.now() - started) / 1_000;
    if (interruption.signal.aborted) {
      throw new Error(
        `interrupted: ${number(progress.rows)} of ${number(total)} rows are there, whole and counted`,
      );
    }
    report(json, workspaceId, wanted, long, total, seconds);
  });
}

function report(
  json: boolean | undefined,
  workspaceId: string,
  {
    contacts,
    conversations,
    messages,
    longConversation,
  }: Pick<SeedOptions, 'contacts' | 'conversations' | 'messages' | 'longConversation'>,
  long: string | undefined,
  total: number,
  seconds: number,
): void {
  const made = {
    workspace_id: toId('workspace', workspaceId),
    contacts,
    conversations: conversations + (long === undefined ? 0 : 1),
    messages: messages + longConversation,
    long_conversation_id: long === undefined ? null : toId('conversation', long),
    seconds: Math.round(seconds * 10) / 10,
    rows_per_second: Math.round(total / seconds),
  };
  const text = lines({
    workspace: made.workspace_id,
    contacts: number(made.contacts),
    conversations: number(made.conversations),
    messages: number(made.messages),
    ...(long !== undefined && { 'long conversation': made.long_conversation_id }),
    took: `${made.seconds} s, ${number(made.rows_per_second)} rows/s`,
  });
  print(json, made, text);
}
