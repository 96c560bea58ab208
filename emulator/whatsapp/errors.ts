import { randomBytes } from 'node:crypto';

/** Title and HTTP status of the codes Meta documents for the Cloud API. */
const known: Record<number, [title: string, httpStatus: number]> = {
  0: ['AuthException', 401],
  1: ['API Unknown', 400],
  2: ['API Service', 503],
  3: ['API Method', 500],
  4: ['API Too Many Calls', 400],
  10: ['Permission Denied', 403],
  33: ['Parameter value is not valid', 400],
  100: ['Invalid parameter', 400],
  190: ['Access token has expired', 401],
  368: ['Temporarily blocked for policies violations', 403],
  80007: ['Rate limit issues', 400],
  130429: ['Rate limit hit', 429],
  130472: ["User's number is part of an experiment", 400],
  131000: ['Something went wrong', 500],
  131005: ['Access denied', 403],
  131008: ['Required parameter is missing', 400],
  131009: ['Parameter value is not valid', 400],
  131016: ['Service unavailable', 503],
  131021: ['Recipient cannot be sender', 400],
  131026: ['Message undeliverable', 400],
  131030: ['Recipient phone number not in allowed list', 400],
  131031: ['Business Account locked', 403],
  131042: ['Business eligibility payment issue', 400],
  131047: ['Re-engagement message', 400],
  131048: ['Spam rate limit hit', 400],
  131049: ['This message was not delivered to maintain healthy ecosystem engagement.', 400],
  131051: ['Unsupported message type', 400],
  131052: ['Media download error', 400],
  131053: ['Media upload error', 400],
  131056: ['(Business Account, Consumer Account) pair rate limit hit', 400],
  131057: ['Account in maintenance mode', 500],
  132000: ['Number of parameters does not match the expected number of params', 400],
  132001: ['Template name does not exist in the translation', 404],
  132005: ['Translated text too long', 400],
  132007: ['Template format character policy violated', 400],
  132012: ['Parameter format does not match format in the created template', 400],
  132015: ['Template is paused', 400],
  132016: ['Template is disabled', 400],
  133010: ['Phone number not registered', 400],
};

const describedAs: Record<number, string> = {
  131026: 'Message Undeliverable.',
  131047:
    'Message failed to send because more than 24 hours have passed since the customer last replied to this number.',
  131053: 'Media upload failed.',
  130429: 'Cloud API message throughput has been reached.',
};

export const errorCodes = Object.entries(known).map(([code, [title]]) => ({ code: Number(code), title }));

export function titleOf(code: number): string {
  return known[code]?.[0] ?? 'Something went wrong';
}

function detailsOf(code: number): string {
  return describedAs[code] ?? titleOf(code);
}

export interface GraphErrorOptions {
  httpStatus?: number;
  /** Without the `(#code)` Meta puts in front. */
  message?: string;
  details?: string;
  type?: string;
  subcode?: number;
  headers?: Record<string, string>;
}

/** What the Graph API answers when it refuses. */
export class GraphError extends Error {
  readonly httpStatus: number;
  readonly headers: Record<string, string>;
  readonly body: { error: Record<string, unknown> };

  constructor(code: number, options: GraphErrorOptions = {}) {
    const message = options.message ?? titleOf(code);
    super(message);
    this.httpStatus = options.httpStatus ?? known[code]?.[1] ?? 400;
    this.headers = options.headers ?? {};
    const prefixed = options.subcode === undefined && code !== 190;
    this.body = {
      error: {
        message: prefixed ? `(#${code}) ${message}` : message,
        type: options.type ?? 'OAuthException',
        code,
        ...(options.subcode !== undefined && { error_subcode: options.subcode }),
        ...(prefixed && {
          error_data: { messaging_product: 'whatsapp', details: options.details ?? detailsOf(code) },
        }),
        fbtrace_id: `A${randomBytes(17).toString('base64url')}`,
      },
    };
  }
}

export function unknownObject(method: string, id: string): GraphError {
  return new GraphError(100, {
    type: 'GraphMethodException',
    subcode: 33,
    message:
      `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to ` +
      'missing permissions, or does not support this operation. Please read the Graph API documentation at ' +
      'https://developers.facebook.com/docs/graph-api',
  });
}

/** The error inside a `failed` status, which has another shape than an answer's. */
export function statusError(code: number, details = detailsOf(code)): Record<string, unknown> {
  return {
    code,
    title: titleOf(code),
    message: titleOf(code),
    error_data: { details },
    href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
  };
}
