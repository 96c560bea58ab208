import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type Service, withDatabase } from './service.ts';

/**
 * A key passes 1,000 requests a minute on plan business. Straight into the table: over HTTP, making so many would take as
 * long as a scenario. Each like the first key of the workspace.
 */
export async function makeKeys(service: Pick<Service, 'databaseUrl'>, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, () => `inbox_${randomBytes(32).toString('base64url')}`);
  await withDatabase(service, (client) =>
    client.query(
      `insert into api_keys (workspace_id, id, name, hash, scopes)
       select first.workspace_id, made.id, 'Bench', made.hash, first.scopes
       from (select workspace_id, scopes from api_keys order by created_at limit 1) first,
            unnest($1::uuid[], $2::bytea[]) made (id, hash)`,
      [keys.map(() => randomUUID()), keys.map((key) => createHash('sha256').update(key).digest())],
    ),
  );
  return keys;
}
