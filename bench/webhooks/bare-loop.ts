import { createHmac, randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';

/** Nothing but sign and send: url, body, count and connections are the arguments. */
const [url, text, count, connections] = process.argv.slice(2) as [string, string, string, string];
const body = Buffer.from(text);
const dispatcher = new Agent({ pipelining: 1, connections: Number(connections) });
const secret = `whsec_${randomBytes(32).toString('base64')}`;
let left = Number(count);
await Promise.all(
  Array.from({ length: Number(connections) }, async () => {
    while (left-- > 0) {
      const hex = createHmac('sha256', secret).update(body).digest('hex');
      const standard = createHmac('sha256', secret).update('evt.1.').update(body).digest('base64');
      const answer = await request(url, {
        dispatcher,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-service-signature': `sha256=${hex}`,
          'webhook-signature': `v1,${standard}`,
        },
        body,
      });
      await answer.body.dump();
    }
  }),
);
await dispatcher.close();
