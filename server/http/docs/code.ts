import type { Example } from '../openapi/examples.ts';
import { Html, html } from './html.ts';

/** Stands for the address of the service until a reader asks for the page. */
export const baseUrlMark = '{{base_url}}';

/** Scrolls sideways when it must, so it can be focused and scrolled by keyboard. */
export const codeBlock = (code: Html | string): Html => html`<pre tabindex="0"><code>${code}</code></pre>`;

export const panel = (title: Html | string, code: Html | string): Html =>
  html`<figure class="panel"><figcaption>${title}</figcaption>${codeBlock(code)}</figure>`;

export const jsonCode = (value: unknown): Html => highlight(JSON.stringify(value, null, 2));

const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b/g;

/** Names, strings and other values each in a colour of their own. */
function highlight(json: string): Html {
  const pieces: Html[] = [];
  let end = 0;
  for (const match of json.matchAll(tokens)) {
    const [token, string, colon] = match;
    pieces.push(html`${json.slice(end, match.index)}`);
    if (string !== undefined && colon !== undefined)
      pieces.push(html`<span class="k">${string}</span>${colon}`);
    else if (string !== undefined) pieces.push(html`<span class="s">${string}</span>`);
    else pieces.push(html`<span class="v">${token}</span>`);
    end = match.index + token.length;
  }
  return html`${pieces}${json.slice(end)}`;
}

/** A command that does what the example did, as it can be pasted into a shell. */
export function curl({ method, path, headers = {}, body }: Example['request'], needsKey: boolean): string {
  const lines = [
    `curl ${method === 'GET' || (method === 'POST' && body !== undefined) ? '' : `-X ${method} `}${address(path)}`,
  ];
  if (needsKey) lines.push('-H "Authorization: Bearer $INBOX_KEY"');
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quote(`${name}: ${value}`)}`);
  if (body !== undefined) {
    lines.push("-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body, null, 2))}`);
  }
  return lines.join(' \\\n  ');
}

const address = (path: string): string => {
  const url = `${baseUrlMark}${path}`;
  return /[?&*$;'"\s]/.test(path) ? quote(url) : url;
};

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
