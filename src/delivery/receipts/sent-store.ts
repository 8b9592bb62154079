import { correctedEnds, correctedWithinMs } from '../../messages/message.ts';
import { changedColumns, reportChanges, reportStatus } from '../../messages/message-events.ts';
import { statusCode, statusCodes, toUuidRange } from '../../messages/message-row.ts';
import { isInRange } from '../../messages/message-store.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { attemptOutcomes } from '../attempts/attempt.ts';
import {
  type ChangedRow,
  type ChangedText,
  changeOf,
  countedColumns,
  countedFields,
  ended,
  isDelivered,
  isOfCarrier,
  isUnsent,
  keptWords,
  type MatchedReceipt,
  parameters,
  report,
  type SettledRow,
  settled,
  wordColumns,
} from './changed-text.ts';

const [sent, delivered, unknown] = [statusCode('sent'), statusCode('delivered'), statusCode('unknown')];
/** Ends that a late `delivered` may replace: carriers correct themselves. */
const corrected = statusCodes(correctedEnds);

const reached = (['accepted', 'in_doubt'] as const).map((outcome) => attemptOutcomes.indexOf(outcome)).join(', ');

/** The state of a message that a receipt is for. */
export interface KnownMessage {
  id: string;
  unsent: boolean;
  /** This receipt made it delivered. */
  delivered: boolean;
  /** The change by the receipt, for counting. */
  changed: ChangedText | undefined;
}

/**
 * Applies receipts to texts that were sent, and returns the state of each message. Most receipts report the same, and
 * one update without a join applies them; a second statement handles the others.
 */
export async function applyToSent(
  tx: Tx,
  carrier: string,
  receipts: MatchedReceipt[],
  nowMs: number,
): Promise<Map<string, KnownMessage>> {
  const known = new Map<string, KnownMessage>();
  const delivered = receipts.filter(({ receipt }) => receipt.outcome === 'delivered');
  if (delivered.length > 0) {
    const values = [carrier, toTimestamp(nowMs), ...toUuidRange(delivered.map(({ id }) => id))];
    const { rows } = await tx.query<ChangedRow & { isReported: boolean }>(deliveredStatement, values);
    const reported = rows.filter(({ isReported }) => isReported).map(({ id }) => id);
    if (reported.length > 0) await tx.query(reportStatement, toUuidRange(reported));
    for (const { isReported: _, ...row } of rows) {
      const changed = { ...row, was: 'sent', now: 'delivered', wasUnsent: false } as const;
      known.set(row.id, { id: row.id, unsent: false, delivered: true, changed });
    }
  }
  const others = receipts.filter(({ id }) => !known.has(id));
  if (others.length > 0) {
    const { rows } = await tx.query<Omit<KnownMessage, 'changed'> & SettledRow>(
      sentStatement,
      parameters(carrier, others, nowMs),
    );
    for (const { id, unsent, delivered, ...row } of rows)
      known.set(id, { id, unsent, delivered, changed: changeOf(id, row, false) });
  }
  return known;
}

/** The usual case: a sent text was delivered. Few texts have a status callback, so another statement writes those. */
const deliveredStatement = `with applied as (
      update message set status = ${delivered}, updated_at = $2, delivered_at = $2, error_code = null, sequence = sequence + 1
      where ${isInRange(3)} and carrier = $1 and status = ${sent}
      returning ${changedColumns()}, ${countedColumns()}),
    ${reportChanges('applied', '', false)}
    select id, ${countedFields()}, status_callback is not null as "isReported" from applied`;

const reportStatement = `with changed as (select ${changedColumns()} from message where ${isInRange(1)}),
    ${reportStatus('changed')} select`;

/** SQL: the text was sent, as far as we know, and not too long ago. */
const mayArrive = `coalesce(m.sent_at, m.updated_at) > $2::timestamptz - interval '${correctedWithinMs} milliseconds'
          and (m.sent_at is not null or m.possible_duplicates > 0 or exists (
            select from text_attempt t where t.message_id = m.id and t.outcome in (${reached})))`;

/**
 * States never go backwards, but any `delivered` wins, even over a bad end for a while. Other reports count only from
 * the carrier that has the text now, and if the text may have been sent twice, only for the copy whose carrier id we
 * know. A late receipt may still replace `unknown`. A replaced end leaves the list of bad ends.
 */
const sentStatement = `with ${report},
    known as (
      select m.id as known_id, m.status as was, m.carrier = $1 as is_current, r.* from report r join message m on m.id = r.id
      where ${isOfCarrier} and m.id = any($3::uuid[])),
    applied as (
      update message m set ${settled}
      from known where m.id = known_id and m.id = any($3::uuid[]) and case
        when outcome = ${delivered} then m.status in (${sent}, ${unknown}) or m.status in (${corrected}) and ${mayArrive}
        when not is_current then false
        when m.status = ${unknown} then outcome <> ${unknown}
        else m.status = ${sent} and (m.possible_duplicates = 0 or m.carrier_message_id = reported_id) end
      returning ${changedColumns('m.')}, ${countedColumns('m.')}, was, ${wordColumns}),
    ${ended},
    ${keptWords},
    replaced_end as (
      delete from message_end e using applied a where a.was in (${unknown}, ${corrected})
        and e.application_id = a."applicationId" and e.api = a.api and e.status = a.was and e.message_id = a.id),
    earlier_attempt as (
      update text_attempt t set receipt = known.outcome, receipt_reported = coalesce(known.words, t.receipt_reported) from known
      where not is_current and t.message_id = known_id and t.carrier = $1
        and (t.receipt is null or known.outcome = ${delivered}))
    select known_id as id, known.was ${isUnsent} as unsent, ${isDelivered('known_id')} as delivered, known.was,
      a.status as now, ${countedFields('a.')} from known left join applied a on a.id = known_id`;
