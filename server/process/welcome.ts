import type { Logger } from 'pino';
import { bootstrap, ensureConfiguredKey, type FirstStart } from '../bootstrap.ts';
import type { Config } from '../config.ts';
import { openDb } from '../db/client.ts';
import { toId } from '../ids.ts';
import type { Database } from '../runtime.ts';
import { findOldestWorkspace } from '../workspaces/queries.ts';

/**
 * What the operator sees once requests are taken. The first workspace is made only now: a start that fails on the way
 * here, on a taken port say, would otherwise have made a key that nobody was shown.
 */
export async function welcome(
  config: Config,
  log: Logger,
  database: Database,
  origin: string,
): Promise<void> {
  process.stdout.on('error', () => {}); // nobody reads it: no reason to end
  if (config.role === 'worker') {
    process.stdout.write(`inbox worker ready on ${origin}\n`);
    return;
  }
  const url = `${origin}/v1`;
  const first = await firstStart(config, log, database);
  process.stdout.write(`${first ? introduction(config, url, first) : ''}inbox ready on ${url}\n`);
}

async function firstStart(config: Config, log: Logger, database: Database): Promise<FirstStart | undefined> {
  const db = openDb({ url: database.url, poolSize: 1 });
  try {
    const wanted = database.embedded || config.apiKey !== undefined;
    const first = wanted ? await bootstrap({ db, config }) : undefined;
    if (first) return first;
    await ensureConfiguredKey({ db, config });
    if (!(await findOldestWorkspace(db))) {
      log.warn(
        'there is no workspace yet: make one with npm run inbox -- workspace create --name NAME, ' +
          'and a key for it with npm run inbox -- key create --name NAME; or set INBOX_API_KEY and start again',
      );
    }
    return undefined;
  } finally {
    await db.close();
  }
}

/** The key stands here once and nowhere else. One that the operator has chosen is not repeated. */
function introduction(config: Config, url: string, { key, channelId }: FirstStart): string {
  const [authorization, where] = config.apiKey
    ? ['"Authorization: Bearer $INBOX_API_KEY"', 'the key of INBOX_API_KEY']
    : [`'Authorization: Bearer ${key}'`, 'an API key, which is shown only here and only now'];
  const insecure = config.tls ? ' -k' : ''; // the certificate is for a name, this is an address of this machine
  return (
    `\nThis is a new database. It holds the workspace "Demo" and ${where}.\n` +
    `Try it: a customer writes, and you have a conversation.\n\n` +
    `curl -s${insecure} '${url}/channels/${toId('channel', channelId)}/inbound' -H ${authorization} ` +
    `-H 'Content-Type: application/json' ` +
    `-d '{"from":{"phone":"+4915112345678","name":"Mia"},"content":"Hello!"}'\n\n`
  );
}
