import { ApiError } from '../platform/errors.ts';
import type { Message } from './message.ts';

/** No route leads to the number: routes are also the permission to send. */
export function unroutable(): ApiError {
  const message = 'must be a number that a route leads to; operators decide which destinations have routes';
  return new ApiError('UNROUTABLE_DESTINATION', 'No route leads to this number. An operator can add one.', {
    details: [{ field: 'to', message }],
  });
}

/** The message, or why no route leads to its number: a request that is refused for its spend hears of that first. */
export function orUnroutable(prepare: () => Message): Message | ApiError {
  try {
    return prepare();
  } catch (error) {
    if (error instanceof ApiError && error.code === 'UNROUTABLE_DESTINATION') return error;
    throw error;
  }
}
