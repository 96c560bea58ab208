import autocannon, { type Client, type Request } from 'autocannon';
import type { Call, Plan } from './load.ts';
import { sampleOf } from './sample.ts';

/** How many different requests a connection goes through before it begins again. */
const requestsPerConnection = 64;
const checkEveryMs = 100;

// They go on from load to load, so that no key and no number comes again too soon.
let keysUsed = 0;
let numbersUsed = 0;

process.on('message', (plan: Plan) => {
  void run(plan).then(
    (sample) => process.send!(sample),
    (error: unknown) => process.send!({ failed: (error as Error).message }),
  );
});
process.on('disconnect', () => process.exit());

async function run(plan: Plan) {
  const { origin, connections, seconds } = plan;
  const latencies: number[] = [];
  const refused = new Map<string, number>();
  const refuse = (reason: string) => refused.set(reason, (refused.get(reason) ?? 0) + 1);
  let clients = 0;
  let endedAt = 0;
  const begunAt = performance.now();
  const running = autocannon({
    url: origin,
    connections,
    duration: seconds,
    sampleInt: checkEveryMs,
    timeout: 30,
    setupClient: (client: Client) => client.setRequests(requestsOf(plan, clients++)),
  });
  running.on('response', (_client, status, _bytes, responseMs) => {
    endedAt = performance.now();
    if (status >= 200 && status < 300) latencies.push(responseMs);
    else refuse(`status ${status}`);
  });
  running.on('reqError', (error) => refuse(error.message));
  await running;
  if (refused.size > 0) {
    throw new Error([...refused].map(([reason, times]) => `${times} × ${reason}`).join(', '));
  }
  if (latencies.length === 0) throw new Error(`no answer within ${seconds} s`);
  return sampleOf(latencies, (endedAt - begunAt) / 1_000);
}

/** Built beforehand where nothing in them changes: what this process saves, the service has. */
function requestsOf(plan: Plan, client: number): Request[] {
  const { calls, connections } = plan;
  if (calls.some(isChanging)) return [changing(plan)];
  return Array.from({ length: requestsPerConnection }, (_, i) => {
    const { method, path, body } = calls[(client + i * connections) % calls.length]!;
    return {
      method,
      path,
      headers: headersOf(plan, body),
      ...(body !== undefined && { body: body as string }),
    };
  });
}

const isChanging = ({ body }: Call): boolean => Array.isArray(body) || (body?.includes('{n}') ?? false);

function changing(plan: Plan): Request {
  const { calls } = plan;
  const setupRequest = (request: Request): Request => {
    const n = numbersUsed++;
    const { method, path, body } = calls[n % calls.length]!;
    const text = Array.isArray(body) ? body[Math.floor(n / calls.length) % body.length] : body;
    const { body: _, ...rest } = request;
    return {
      ...rest,
      method,
      path,
      headers: headersOf(plan, text),
      ...(text !== undefined && { body: text.replaceAll('{n}', `${process.pid}-${n}`) }),
    };
  };
  return { method: 'GET', path: '/', headers: {}, setupRequest };
}

function headersOf({ keys }: Plan, body: unknown): Record<string, string> {
  const key = keys[keysUsed++ % keys.length]!;
  return {
    authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
}
