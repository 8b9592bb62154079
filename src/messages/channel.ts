import { ApiError, unavailable } from '../platform/errors.ts';

/** The channels that work here. */
export const channels: readonly string[] = ['sms'];
export const rightChannel = channels.join(' or ');
export const channelExpected = `must be ${rightChannel}`;

/** A bad channel alone. Among other bad fields it is one more field problem. */
export function unsupportedChannel(): ApiError {
  return new ApiError('UNSUPPORTED_CHANNEL', `This channel is not supported. Use ${rightChannel}.`, {
    details: [{ field: 'channel', message: channelExpected }],
  });
}

const noCarrierRetrySeconds = 60;

/** In production, until an operator has connected the first carrier. */
export function noCarrier(): ApiError {
  return unavailable(
    'No carrier is connected, so the service can send no text. An operator connects one in the portal, or with the command carriers; docs/carriers.md explains it.',
    noCarrierRetrySeconds,
  );
}

/** No route leads to the number: routes are also the permission to send. */
export function unroutable(): ApiError {
  const message = 'leads to a destination that this service sends no texts to; an operator decides which ones it does';
  return new ApiError('UNROUTABLE_DESTINATION', 'No route leads to this number. An operator adds routes.', {
    details: [{ field: 'to', message }],
  });
}
