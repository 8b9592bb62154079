import type { Tx } from '../platform/database/database.ts';
import { type Channel, channelNames } from './channel.ts';
import { statusCode, toUuidRange } from './message-row.ts';
import { isInRange } from './message-store.ts';

/** The facts of a sent text that are counted. */
export interface SentText {
  /** The message's uuid. */
  id: string;
  applicationId: string;
  carrier: string;
  sender: string;
  channel: Channel;
  to: string;
  sentAtMs: number;
  /** Its carrier has accepted it, and has not reported since. */
  isUnderway: boolean;
  isDelivered: boolean;
}

/** Finds the texts (uuids) that a carrier has accepted. */
export async function findSentTexts(tx: Tx, uuids: string[]): Promise<SentText[]> {
  if (uuids.length === 0) return [];
  const { rows } = await tx.query<Omit<SentText, 'channel'> & { channel: number }>(
    `select id, application_id as "applicationId", carrier, sender, channel, recipient as "to", sent_at as "sentAtMs",
       status = ${statusCode('sent')} as "isUnderway", status = ${statusCode('delivered')} as "isDelivered"
     from message where ${isInRange(1)} and sent_at is not null`,
    toUuidRange(uuids),
  );
  return rows.map((row) => ({ ...row, channel: channelNames[row.channel] ?? 'sms' }));
}
