import { isIPv4, isIPv6 } from 'node:net';
import { resolve } from 'node:path';

/** The whole environment, read once at start. Anything else the service knows, it learns from the database. */
export interface Config {
  host: string;
  port: number;
  databaseUrl: string | undefined;
  dataDir: string;
  apiKey: string | undefined;
  secretKey: string | undefined;
  tls: { certFile: string; keyFile: string } | undefined;
  trustProxy: boolean;
  processes: number;
  role: 'all' | 'api' | 'worker';
  webhookRetrySeconds: number[];
  webhookTimeoutSeconds: number;
  channelRetrySeconds: number[];
  /** Where customers and platforms reach this service; unset: as the request at hand did. */
  publicUrl: string | undefined;
  egressAllow: string[];
  allowHttpWebhooks: boolean;
  logLevel: LogLevel;
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A bad value: one line for the operator, exit code 2. */
export class ConfigError extends Error {}

type Environment = Record<string, string | undefined>;

export function readConfig(env: Environment): Config {
  const databaseUrl = env['DATABASE_URL'] || undefined;
  const secretKey = env['INBOX_SECRET_KEY'] || undefined;
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw new ConfigError('DATABASE_URL must start with postgres:// or postgresql://');
  }
  if (databaseUrl !== undefined && secretKey === undefined) {
    throw new ConfigError(
      'INBOX_SECRET_KEY is required with DATABASE_URL: it encrypts secrets at rest. Make one with: openssl rand -base64 32',
    );
  }
  if (secretKey !== undefined && secretKey.length < 32) {
    throw new ConfigError('INBOX_SECRET_KEY must have at least 32 characters: openssl rand -base64 32');
  }
  const apiKey = env['INBOX_API_KEY'] || undefined;
  if (apiKey !== undefined && !/^[\x21-\x7e]{8,255}$/.test(apiKey)) {
    throw new ConfigError('INBOX_API_KEY must be 8 to 255 visible ASCII characters without spaces');
  }
  return {
    host: env['HOST'] || '127.0.0.1',
    port: integer(env, 'PORT', 3000, 0, 65535),
    databaseUrl,
    dataDir: resolve(env['INBOX_DATA_DIR'] || './data'),
    apiKey,
    secretKey,
    tls: tlsFiles(env),
    trustProxy: flag(env, 'INBOX_TRUST_PROXY'),
    processes: integer(env, 'INBOX_PROCESSES', 1, 1, 64),
    role: oneOf(env, 'INBOX_ROLE', ['all', 'api', 'worker'], 'all'),
    webhookRetrySeconds: secondsList(env, 'INBOX_WEBHOOK_RETRY_SECONDS', [5, 30, 120, 600, 1800]),
    webhookTimeoutSeconds: seconds(env, 'INBOX_WEBHOOK_TIMEOUT_SECONDS', 10),
    channelRetrySeconds: secondsList(env, 'INBOX_CHANNEL_RETRY_SECONDS', [2, 10, 60, 300, 900]),
    publicUrl: origin(env, 'INBOX_PUBLIC_URL'),
    egressAllow: cidrs(env, 'INBOX_EGRESS_ALLOW'),
    allowHttpWebhooks: flag(env, 'INBOX_ALLOW_HTTP_WEBHOOKS'),
    logLevel: oneOf(env, 'INBOX_LOG_LEVEL', logLevels, 'info'),
  };
}

function integer(env: Environment, name: string, fallback: number, min: number, max: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not "${text}"`);
  }
  return value;
}

function flag(env: Environment, name: string): boolean {
  const text = (env[name] || 'off').toLowerCase();
  if (['1', 'true', 'on', 'yes'].includes(text)) return true;
  if (['0', 'false', 'off', 'no'].includes(text)) return false;
  throw new ConfigError(`${name} must be on or off, not "${env[name]}"`);
}

function oneOf<const T extends string>(env: Environment, name: string, values: readonly T[], fallback: T): T {
  const text = env[name] || fallback;
  const found = values.find((value) => value === text);
  if (found === undefined)
    throw new ConfigError(`${name} must be one of ${values.join(', ')}, not "${text}"`);
  return found;
}

function seconds(env: Environment, name: string, fallback: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text.trim()) || value <= 0 || value > 86_400) {
    throw new ConfigError(`${name} must be seconds above 0, at most 86400, not "${text}"`);
  }
  return value;
}

function secondsList(env: Environment, name: string, fallback: number[]): number[] {
  const text = env[name];
  if (!text) return fallback;
  return text.split(',').map((part) => seconds({ [name]: part.trim() || 'an empty part' }, name, 0));
}

function origin(env: Environment, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || `${url.origin}/` !== url.href) {
    throw new ConfigError(`${name} must be an origin such as https://inbox.example.com, not "${text}"`);
  }
  return url.origin;
}

function tlsFiles(env: Environment): Config['tls'] {
  const certFile = env['INBOX_TLS_CERT_FILE'] || undefined;
  const keyFile = env['INBOX_TLS_KEY_FILE'] || undefined;
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new ConfigError('INBOX_TLS_CERT_FILE and INBOX_TLS_KEY_FILE go together: set both or neither');
  }
  return { certFile: resolve(certFile), keyFile: resolve(keyFile) };
}

function cidrs(env: Environment, name: string): string[] {
  const list = (env[name] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  for (const cidr of list) {
    const [address = '', bits = ''] = cidr.split('/');
    const most = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1;
    if (!/^\d{1,3}$/.test(bits) || Number(bits) > most) {
      throw new ConfigError(
        `${name} must be a comma-separated list of CIDRs such as 10.0.0.0/8; "${cidr}" is none`,
      );
    }
  }
  return list;
}
