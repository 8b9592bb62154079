import { ApiError } from '../platform/errors.ts';

export const channelExpected = 'must be sms';

/** A bad channel alone. Among other bad fields it is one more field problem. */
export function unsupportedChannel(): ApiError {
  return new ApiError('UNSUPPORTED_CHANNEL', 'This channel is not supported. Use sms.', {
    details: [{ field: 'channel', message: channelExpected }],
  });
}
