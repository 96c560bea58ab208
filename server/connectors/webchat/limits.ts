import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors.ts';
import { networkOf } from '../../http/client-network.ts';
import { createRateLimiter, withoutKeyPerMinute } from '../../http/rate-limit.ts';

export const perMinute = { sessions: 30, messages: 60, reads: 120 };

/** Each throws a 429 that says when to come back. `visitor` is the key of one. */
export interface Limits {
  session(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  message(visitor: string, reply: FastifyReply): Promise<void>;
  read(visitor: string, reply: FastifyReply): Promise<void>;
  /** What is refused counts as a request without an API key does: nobody tries ids and tokens for long. */
  refusal(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

export function createLimits(ctx: Context): Limits {
  const limiter = createRateLimiter(ctx);

  async function keep(reply: FastifyReply, bucket: string, most: number): Promise<void> {
    const { allowed, retryAfterSeconds } = await limiter.take(bucket, most);
    if (!allowed) throw tooMany(reply, `Over ${most} a minute`, retryAfterSeconds);
  }

  return {
    session: ({ ip }, reply) => keep(reply, `webchat sessions ${networkOf(ip)}`, perMinute.sessions),
    message: (visitor, reply) => keep(reply, `webchat messages ${visitor}`, perMinute.messages),
    read: (visitor, reply) => keep(reply, `webchat reads ${visitor}`, perMinute.reads),
    refusal: ({ ip }, reply) => keep(reply, `address ${networkOf(ip)}`, withoutKeyPerMinute),
  };
}

export function tooMany(reply: FastifyReply, what: string, retryAfterSeconds: number): ApiError {
  reply.header('retry-after', retryAfterSeconds);
  return new ApiError('rate_limited', `${what}; retry in ${retryAfterSeconds} s`);
}
