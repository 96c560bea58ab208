// How the built-in PostgreSQL is set up for this machine.
import { availableParallelism, totalmem } from 'node:os';

/** No port is listened on: the number is merely part of the socket's name. */
export const PORT = 5432;

const MB = 2 ** 20;

/** On the command line, so that it follows the machine at every start. Durability stays at its safe defaults. */
export function settings(socketDir: string): Record<string, string | number> {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  const share = (part: number, least: number, most: number): string =>
    `${Math.round(Math.min(Math.max((memory * part) / MB, least), most))}MB`;
  return {
    listen_addresses: '',
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    port: PORT,
    unix_socket_permissions: '0700',
    max_connections: 200,
    // A quarter of the memory is the usual advice for a machine of PostgreSQL's own. Here Node shares it, and
    // beyond 1 GB the system's cache serves the rest about as well.
    shared_buffers: share(1 / 4, 32, 1024),
    effective_cache_size: share(1 / 2, 128, 65_536),
    work_mem: share(1 / 512, 4, 32), // per sort and connection
    maintenance_work_mem: share(1 / 16, 64, 512),
    max_wal_size: '2GB',
    wal_compression: 'on',
    checkpoint_completion_target: 0.9,
    random_page_cost: 1.1,
    jit: 'off',
    max_parallel_workers_per_gather: availableParallelism() >= 4 ? 2 : 0,
    autovacuum_naptime: '20s',
    autovacuum_vacuum_scale_factor: 0.05,
    autovacuum_vacuum_insert_scale_factor: 0.1,
    autovacuum_vacuum_cost_limit: 1000,
    client_connection_check_interval: '10s', // ends the queries of a process that was killed
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    log_min_error_statement: 'panic', // whoever sent a failing statement logs it
  };
}
