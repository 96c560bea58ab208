import { type Dispatcher, errors, request } from 'undici';
import { refusalOf } from '../../egress/guard.ts';

/** What a tenant is told of a failure: its class, never our internals. */
export type FailureClass =
  | 'timeout'
  | 'dns'
  | 'tls'
  | 'refused'
  | 'blocked_address'
  | 'status'
  | 'connection'
  | 'protocol';

export interface AttemptResult {
  delivered: boolean;
  durationMs: number;
  status: number | null;
  error: FailureClass | null;
  /** The beginning of the answer's body. */
  response: string | null;
}

const mostResponseBytes = 8 * 1024;

/**
 * One POST under one deadline for name, connection, handshake and status line. A 2xx status line in time is success;
 * of the body as much is read as fits the log and the time left, then the connection is cut.
 */
export async function sendOnce(
  dispatcher: Dispatcher,
  {
    url,
    headers,
    body,
    timeoutMs,
  }: { url: string; headers: Record<string, string>; body: Buffer; timeoutMs: number },
): Promise<AttemptResult> {
  const started = performance.now();
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const result = (
    status: number | null,
    error: FailureClass | null,
    response: string | null,
  ): AttemptResult => ({
    delivered: error === null,
    durationMs: Math.round(performance.now() - started),
    status,
    error,
    response,
  });
  try {
    const answer = await request(url, {
      dispatcher,
      method: 'POST',
      headers,
      body,
      signal: deadline.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const response = await beginningOf(answer.body);
    const ok = answer.statusCode >= 200 && answer.statusCode < 300;
    return result(answer.statusCode, ok ? null : 'status', response);
  } catch (error) {
    return result(null, deadline.signal.aborted ? 'timeout' : classOf(error), null);
  } finally {
    clearTimeout(timer);
  }
}

/** Ends early on 8 KiB, on the deadline (which errors the stream) and on a broken answer: what came is kept. */
async function beginningOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= mostResponseBytes) break; // leaving the loop destroys the stream and its socket
    }
  } catch {
    body.destroy();
  }
  // PostgreSQL's text holds no NUL; a log entry may lose one.
  return Buffer.concat(chunks).subarray(0, mostResponseBytes).toString('utf8').replaceAll('\0', '\u2400');
}

function classOf(error: unknown): FailureClass {
  const refusal = refusalOf(error);
  if (refusal) return refusal;
  if ((error as { stage?: string }).stage === 'tls') return 'tls';
  if (error instanceof errors.ConnectTimeoutError) return 'timeout';
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError)
    return 'protocol';
  const code = (error as { code?: string }).code;
  if (code === 'ECONNREFUSED') return 'refused';
  if (code?.startsWith('HPE_')) return 'protocol';
  return 'connection';
}
