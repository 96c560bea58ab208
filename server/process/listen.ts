import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { type Config, ConfigError } from '../config.ts';
import type { App } from '../http/route.ts';

/** Opens the port. Where the server can be reached, as a URL to paste. */
export async function listen(app: App, { host, port }: Config): Promise<string> {
  try {
    const origin = await app.listen({ host, port });
    return origin.replace('//[::]:', '//[::1]:');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Error(`Port ${port} on ${host} is taken: stop what uses it, or set PORT`, { cause: error });
    }
    if (code === 'EACCES')
      throw new ConfigError(`PORT ${port} may not be opened by this user: set one above 1023`);
    throw new ConfigError(`HOST ${host} is no address of this machine (${code ?? message})`);
  }
}

/** Before anything is started: a certificate that cannot be used is a bad environment. */
export function checkTlsFiles({ tls }: Pick<Config, 'tls'>): void {
  if (!tls) return;
  const cert = readable('INBOX_TLS_CERT_FILE', tls.certFile);
  const key = readable('INBOX_TLS_KEY_FILE', tls.keyFile);
  attempt('INBOX_TLS_CERT_FILE', tls.certFile, () => createSecureContext({ cert }));
  attempt('INBOX_TLS_KEY_FILE', tls.keyFile, () => createSecureContext({ cert, key }));
}

const readable = (variable: string, file: string) => attempt(variable, file, () => readFileSync(file));

function attempt<T>(variable: string, file: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw new ConfigError(`${variable}: ${file} cannot be used: ${(error as Error).message}`);
  }
}
