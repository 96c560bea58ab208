import { existsSync } from 'node:fs';
import { access, constants, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { inflate } from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import { atEnd } from './harness.ts';

/**
 * A headless Chromium that npm brought along: no browser on the machine, no network and no particular user is needed.
 * (It is for Linux on x64; elsewhere it takes the machine's own Chrome.) One for a test file; it ends with the file.
 */
export async function startBrowser(): Promise<Browser> {
  const isBrought = process.platform === 'linux' && process.arch === 'x64';
  const browser = await (isBrought ? launchOwn() : chromium.launch({ channel: 'chrome' }));
  atEnd(() => browser.close());
  return browser;
}

async function launchOwn(): Promise<Browser> {
  const folder = await unpackedChromium();
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    // It has no sandbox as root or in most containers; it shows our own pages only.
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none'],
    env: { ...process.env, ...librariesOf(folder) },
  });
}

/** For machines that lack them: libnss3 and its like, and something to write with. */
function librariesOf(folder: string): Record<string, string> {
  const own = [process.env['LD_LIBRARY_PATH'], join(folder, 'al2023', 'lib')].filter(Boolean).join(':');
  return {
    LD_LIBRARY_PATH: own,
    ...(!existsSync('/etc/fonts/fonts.conf') && { FONTCONFIG_PATH: join(folder, 'fonts') }),
  };
}

/** Unpacking takes seconds, so it is done once for each version and user. */
async function unpackedChromium(): Promise<string> {
  const bin = join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '../bin');
  const { version } = createRequire(import.meta.url)(join(bin, '../package.json')) as { version: string };
  const cache = resolve(import.meta.dirname, '../node_modules/.cache');
  const folder = join(cache, `chromium-${version}-${process.getuid?.() ?? 0}`);
  if (existsSync(folder)) return folder;

  const begun = await mkdtemp(join((await isWritable(cache)) ? cache : tmpdir(), 'chromium-'));
  await inflateInto(
    begun,
    ['chromium.br', 'fonts.tar.br', 'al2023.tar.br'].map((name) => join(bin, name)),
  );
  try {
    await rename(begun, folder); // all of it or nothing, should another file's tests be at it too
    return folder;
  } catch {
    atEnd(() => rm(begun, { recursive: true, force: true }));
    return begun;
  }
}

/** The library unpacks into the folder for temporary files, whichever that is at the moment. */
async function inflateInto(folder: string, archives: string[]): Promise<void> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    const underWay = archives.map((archive) => inflate(archive)); // where to is decided here, not later
    await Promise.all(underWay);
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}

async function isWritable(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
