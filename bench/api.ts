import { request } from 'undici';

export interface Answer {
  data: { id: string } & Record<string, unknown>;
}

/** One call outside the measured load. Anything but success is an error. */
export async function call<T = Answer>(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  key: string,
  body?: object,
): Promise<T> {
  const answer = await request(url, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.statusCode} ${text}`);
  return JSON.parse(text) as T;
}
