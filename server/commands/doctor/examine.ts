import { type Config, readConfig } from '../../config.ts';
import { withBareDatabase } from '../session.ts';
import { type Check, fail, ok, reasonOf, warn } from './check.ts';
import { checkDatabase } from './database.ts';
import { checkDataDir, checkNode, isNew } from './machine.ts';

/** Every check whose ground is there: without a configuration no database is looked for. */
export async function examine(env: NodeJS.ProcessEnv): Promise<Check[]> {
  const checks: Check[] = [{ name: 'node', ...checkNode(process.versions.node) }];
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    return [...checks, { name: 'config', ...fail(reasonOf(error)) }];
  }
  const place = config.databaseUrl === undefined ? 'the embedded PostgreSQL' : 'DATABASE_URL';
  checks.push({ name: 'config', ...ok(`readable, the database is ${place}`) });
  checks.push({ name: 'data directory', ...(await checkDataDir(config)) });
  // Looking must not create: an embedded database that is not there yet is made by the first start.
  if (config.databaseUrl === undefined && (await isNew(config.dataDir))) {
    return [...checks, { name: 'database', ...warn('not there yet: the first start makes it') }];
  }
  try {
    return [...checks, ...(await withBareDatabase(config, (url) => checkDatabase(url, config)))];
  } catch (error) {
    return [...checks, { name: 'database', ...fail(`cannot be reached: ${reasonOf(error)}`) }];
  }
}
