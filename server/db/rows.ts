import type { Statement, Tx } from './client.ts';

/**
 * Rows for one statement. Many go as an array for each column; one alone, which is most often the case, goes as plain
 * values: as arrays of one, a message costs PostgreSQL a quarter more and an event two fifths.
 */
export function sendRows(tx: Tx, one: Statement<never>, many: Statement<never>, rows: unknown[][]): void {
  const [first] = rows;
  if (first === undefined) return;
  if (rows.length === 1) tx.send(one, first);
  else
    tx.send(
      many,
      first.map((_, column) => rows.map((row) => row[column])),
    );
}
