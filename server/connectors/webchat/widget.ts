import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

const folder = new URL('../../../web/widget/', import.meta.url);

/** In the order they need one another: what a file imports stands before it. */
const parts = [
  'texts.js',
  'settings.js',
  'store.js',
  'dom.js',
  'api.js',
  'events.js',
  'text.js',
  'log.js',
  'view.js',
  'outbox.js',
  'news.js',
  'main.js',
];

export interface Script {
  text: string;
  gzipped: Buffer;
  etag: string;
}

/**
 * The widget as one file. Its parts are modules that checkers and editors understand; here they only lose their imports
 * and exports, and share one function's scope.
 */
export async function assembleWidget(): Promise<Script> {
  const css = await readFile(new URL('style.css', folder), 'utf8');
  const modules = await Promise.all(parts.map((part) => readFile(new URL(part, folder), 'utf8')));
  const text = [
    '(() => {',
    "'use strict';",
    `const css = ${JSON.stringify(withoutComments(css))};`,
    ...modules.map((module) =>
      withoutComments(module.replaceAll(/^import .*$/gm, '').replaceAll(/^export /gm, '')),
    ),
    '})();\n',
  ].join('\n');
  return {
    text,
    gzipped: gzipSync(text, { level: 9 }),
    etag: `"${createHash('sha256').update(text).digest('base64url')}"`,
  };
}

/** Only comments that begin a line, and the blanks before it: what stands inside a line may be text. */
const withoutComments = (source: string): string =>
  source
    .replaceAll(/^\s*\/\*[^]*?\*\/\s*$/gm, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/^\s+/gm, '');
