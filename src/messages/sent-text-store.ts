import type { Tx } from '../platform/database/database.ts';
import { statusCode, toUuidRange } from './message-row.ts';
import { isInRange } from './message-store.ts';

/** What is counted of a text that was sent. */
export interface SentText {
  /** Uuids. */
  id: string;
  applicationId: string;
  carrier: string;
  sender: string;
  to: string;
  sentAtMs: number;
  /** Its carrier has accepted it, and told nothing since. */
  isUnderway: boolean;
  isDelivered: boolean;
}

/** Finds those of these texts (uuids) that a carrier has accepted. */
export async function findSentTexts(tx: Tx, uuids: string[]): Promise<SentText[]> {
  if (uuids.length === 0) return [];
  const { rows } = await tx.query<SentText>(
    `select id, application_id as "applicationId", carrier, sender, recipient as "to", sent_at as "sentAtMs",
       status = ${statusCode('sent')} as "isUnderway", status = ${statusCode('delivered')} as "isDelivered"
     from message where ${isInRange(1)} and sent_at is not null`,
    toUuidRange(uuids),
  );
  return rows;
}
