/** Refusals that routes with an API key get described by themselves. */
const meanings = {
  401: 'The visitor’s token is missing or not valid here: begin a session.',
  429: 'Too many. `Retry-After` says how many seconds to wait.',
};

export function refused(...statuses: (keyof typeof meanings)[]) {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: meanings[status],
        content: { 'application/json': { schema: { $ref: 'Error#' } } },
      },
    ]),
  );
}
