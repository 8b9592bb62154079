import type { Channel } from '../messages/channel.ts';

/**
 * A carrier as counts by day and step name it: its key, with the channel as a third part unless that is `sms`. So rows and
 * statements of versions without channels stay right.
 */
export function countedCarrier(carrier: string, channel: Channel): string {
  if (channel === 'sms') return carrier;
  return `${carrier}${carrier.includes('#') ? '' : '#'}#${channel}`;
}

/** The channel of a counted carrier, in SQL. */
export const channelOfCounted = `coalesce(nullif(split_part(carrier, '#', 3), ''), 'sms')`;
