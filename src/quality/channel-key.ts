import type { Channel } from '../messages/channel.ts';

/**
 * A carrier in counts by day and step. Another channel than `sms` is its third part, so that the rows and the statements of
 * a version without channels go on beside these.
 */
export function countedCarrier(carrier: string, channel: Channel): string {
  if (channel === 'sms') return carrier;
  return `${carrier}${carrier.includes('#') ? '' : '#'}#${channel}`;
}

/** The channel of a counted carrier, in SQL. */
export const channelOfCounted = `coalesce(nullif(split_part(carrier, '#', 3), ''), 'sms')`;
