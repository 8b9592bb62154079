import { ApiError, unavailable } from '../platform/errors.ts';

/** Ways to reach a person. Postgres stores a channel as its index in this list: append only, never remove or reorder. */
export const channelNames = ['sms', 'voice', 'whatsapp', 'inbound'] as const;
export type Channel = (typeof channelNames)[number];

/** The channels by which a carrier sends codes. */
export const sendingChannels = ['sms', 'voice', 'whatsapp'] as const satisfies readonly Channel[];
export type SendingChannel = (typeof sendingChannels)[number];

/** Texts of the SMS and Messaging APIs go by this one alone. */
export const messagingChannels: readonly string[] = ['sms'];

/** `sms or voice`; `sms, voice or whatsapp`. */
export function rightChannel(channels: readonly string[]): string {
  return [channels.slice(0, -1).join(', '), ...channels.slice(-1)].filter((part) => part !== '').join(' or ');
}

export const channelExpected = (channels: readonly string[]) => `must be ${rightChannel(channels)}`;

/**
 * The error if only the channel is bad; names the channels that work. Among other bad fields, it is one more field problem.
 */
export function unsupportedChannel(channels: readonly string[], field = 'channel'): ApiError {
  return new ApiError('UNSUPPORTED_CHANNEL', `This channel is not supported. Use ${rightChannel(channels)}.`, {
    details: [{ field, message: channelExpected(channels) }],
  });
}

/** A call counts as ten segments; undefined where the text itself decides. */
export function segmentsOfChannel(channel: Channel): number | undefined {
  return channel === 'voice' ? 10 : undefined;
}

const noCarrierRetrySeconds = 60;

/** The error in production until an operator has connected the first carrier. */
export function noCarrier(): ApiError {
  return unavailable(
    'No carrier is connected, so the service can send no text. An operator connects one in the portal, or with the command carriers; docs/carriers.md explains it.',
    noCarrierRetrySeconds,
  );
}

/** No route leads to the number: routes are also the permission to send. */
export function unroutable(): ApiError {
  const message = 'must be a number that a route matches; an operator decides where the service sends texts';
  return new ApiError('UNROUTABLE_DESTINATION', 'No route leads to this number. An operator adds routes.', {
    details: [{ field: 'to', message }],
  });
}
