import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, badRequest, statusOf } from '../errors.ts';
import { errorOfValidation } from './validation.ts';

/** The one place where an error becomes an answer. */
export function answerError(error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply) {
  const known = toApiError(error, request.routeOptions.bodyLimit);
  if (known.code === 'server_error') request.log.error({ err: error }, 'request failed');
  return reply.code(statusOf[known.code]).send(errorBody(known, request.id));
}

export function errorBody({ code, message, details }: ApiError, requestId: string) {
  return {
    error: {
      code,
      message,
      status: statusOf[code],
      ...(details.length > 0 && { details }),
      request_id: requestId,
    },
  };
}

function toApiError(error: FastifyError | ApiError, bodyLimit: number): ApiError {
  if (error instanceof ApiError) return error;
  if (error.validation) return errorOfValidation(error.validation, error.validationContext ?? 'body');
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return badRequest(`The body is larger than ${bodyLimit / 2 ** 20} MiB`);
  }
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return badRequest('The body must be JSON, sent with Content-Type: application/json');
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return badRequest(error.message);
  }
  return new ApiError('server_error', 'Something went wrong on our side; retry later');
}
