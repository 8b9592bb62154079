import { ApiError, unavailable } from '../platform/errors.ts';

export const channelExpected = 'must be sms';

/** A bad channel alone. Among other bad fields it is one more field problem. */
export function unsupportedChannel(): ApiError {
  return new ApiError('UNSUPPORTED_CHANNEL', 'This channel is not supported. Use sms.', {
    details: [{ field: 'channel', message: channelExpected }],
  });
}

const noCarrierRetrySeconds = 60;

/** In production, until an operator has connected the first carrier. */
export function noCarrier(): ApiError {
  return unavailable(
    'No carrier is connected, so the service can send no text. An operator connects one with npm run carriers; docs/carriers.md explains it.',
    noCarrierRetrySeconds,
  );
}
