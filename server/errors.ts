/** Every error a client can see. The table is the interface: code, HTTP status, and nothing else. */
export const statusOf = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  validation_error: 422,
  rate_limited: 429,
  server_error: 500,
} as const;

export type ErrorCode = keyof typeof statusOf;

/** What to mend: the field, the rule it broke, and a sentence for a person. */
export interface Detail {
  field: string;
  rule: string;
  message: string;
}

export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: Detail[];

  constructor(code: ErrorCode, message: string, details: Detail[] = []) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** The request does not have the documented shape. */
export function badRequest(message: string, details: Detail[] = []): ApiError {
  return new ApiError('bad_request', message, details);
}

/** The shape is right, the content breaks a rule. */
export function invalid(field: string, rule: string, message: string): ApiError {
  return new ApiError('validation_error', message, [{ field, rule, message }]);
}

/** A missing id, a malformed id and an id of another workspace all answer this. */
export function notFound(resource: string): ApiError {
  return new ApiError('not_found', `${resource} not found`);
}

/** The same three, named in a body: the request is understood, the reference is not. */
export function unknownReference(field: string, resource: string): ApiError {
  return invalid(field, 'exists', `${field} names no ${resource} of this workspace`);
}

export function archivedReference(field: string, resource: string): ApiError {
  return invalid(field, 'archived', `${field} names an archived ${resource}`);
}
