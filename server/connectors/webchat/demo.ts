import { createHash } from 'node:crypto';
import { fromId } from '../../ids.ts';

const style = `
:root { color-scheme: light dark; font: 17px/1.6 system-ui, sans-serif; }
body { max-width: 40rem; margin: 0 auto; padding: 12vh 1.5rem 6rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; border: 1px solid #8886; border-radius: 0.6rem; font-size: 0.85rem; }
code { font-family: ui-monospace, monospace; font-size: 0.9em; }
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** As strict as a careful site would have it, and the widget works under it. */
export const demoPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  `style-src ${hashOf(style)}`,
  'img-src https: http: data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A page as a customer of the site would see it: nothing on it but the one line that every site puts there. */
export function demoPage(channel: string, origin: string): string {
  const isChannel = fromId('channel', channel) !== undefined;
  const line = `<script src="/v1/webchat/widget.js" data-channel="${channel}" async></script>`;
  const body = isChannel
    ? `<h1>Write to us</h1>
<p>This page stands for any page of your site. The button in the corner opens the chat of the channel <code>${channel}</code>.</p>
<p>This line put it there:</p>
<pre><code>${line.replaceAll('<', '&lt;').replace('"/', `"${origin}/`)}</code></pre>
${line}`
    : `<h1>Which channel?</h1>
<p>Make a channel of type <code>webchat</code> and put its id into the address of this page:</p>
<pre><code>/v1/webchat/demo?channel=ch_…</code></pre>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Web chat demo</title>
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}
