// Tests: test/smpp/failover.test.ts
import { apiNames } from '../../http/route.ts';
import { channelNames } from '../../messages/channel.ts';
import type { MessageErrorCode } from '../../messages/message.ts';

import { errorCodeOf, statusCode } from '../../messages/message-row.ts';
import type { RoutingGiven } from '../../messages/text/text-route.ts';
import { minuteMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid } from '../../platform/ids.ts';
import { attemptOutcomes } from '../attempts/attempt.ts';
import type { Receipt } from '../carrier/carrier.ts';
import { queueColumns } from '../queue/columns.ts';
import type { MovingText, NextCarrier } from '../routing/next-carrier.ts';
import type { ChangedText, MatchedReceipt } from './changed-text.ts';

/** The dependencies that resending a code needs. */
export interface CodeResendOptions {
  /** Returns the verifications that still need their code. */
  findPending: (tx: Tx, verificationIds: string[]) => Promise<Pick<ReadonlySet<string>, 'has'>>;
  nextCarrier: (text: MovingText, from: string) => NextCarrier | undefined;
  /** Texts have moved to the queues of these carriers. */
  onMoved: (carriers: readonly string[]) => void;
}

/** Errors after which another route or network may still deliver a code. */
const otherWays: readonly (MessageErrorCode | null)[] = [
  null,
  'unknown',
  'blocked_by_carrier',
  'content_rejected',
  'sender_rejected',
  'carrier_unavailable',
];
/** A code that is valid for less than this is not worth a second text. */
const leastLeftMs = minuteMs;

interface CodeRow {
  id: string;
  applicationId: string;
  verificationId: string;
  to: string;
  sender: string;
  sentAtMs: number | null;
  given: RoutingGiven | null;
}

/** An undelivered code that moves to another carrier. */
export interface ResentCode {
  /** Its new carrier. */
  carrier: string;
  /** The change to count: undelivered, with the carrier that did not deliver it. */
  changed: ChangedText;
}

/**
 * Moves undelivered codes to the next carrier, once, while they are still valid. Returns the moved codes by message (uuid):
 * these messages stay `sent`, so their receipts change nothing.
 */
export async function resendCodes(
  tx: Tx,
  { findPending, nextCarrier }: CodeResendOptions,
  from: string,
  receipts: MatchedReceipt[],
  nowMs: number,
): Promise<Map<string, ResentCode>> {
  const bad = receipts.filter(({ receipt: { outcome, error } }) => {
    return (outcome === 'undelivered' || outcome === 'failed') && otherWays.includes(error);
  });
  if (bad.length === 0) return new Map();
  const { rows } = await tx.query<CodeRow>(findStatement, [
    from,
    toTimestamp(nowMs + leastLeftMs),
    bad.map(({ id }) => id),
    bad.map(({ reportedId }) => reportedId),
  ]);
  if (rows.length === 0) return new Map();
  const pending = await findPending(
    tx,
    rows.map(({ verificationId }) => fromUuid('ver', verificationId)),
  );
  const moves = rows.flatMap((row) => {
    if (!pending.has(fromUuid('ver', row.verificationId))) return [];
    const next = nextCarrier(toMoving(row), from);
    const receipt = bad.find(({ id }) => id === row.id)?.receipt;
    return next === undefined || receipt === undefined ? [] : [{ id: row.id, row, next, receipt }];
  });
  if (moves.length > 0)
    await tx.query(moveStatement, [
      from,
      moves.map(({ id }) => id),
      moves.map(({ next }) => next.carrier),
      moves.map(({ next }) => (next.rule === null ? null : next.version)),
      moves.map(({ next }) => next.rule?.name ?? null),
      moves.map(({ receipt }) => statusCode(receipt.outcome)),
      moves.map(({ receipt }) => errorCodeOf(receipt.error ?? 'unknown')),
      moves.map(({ receipt }) => receipt.reported ?? null),
    ]);
  return new Map(
    moves.map(({ id, row, next, receipt }) => [id, { carrier: next.carrier, changed: changeOf(row, receipt) }]),
  );
}

function changeOf(
  { id, applicationId, sender, to, sentAtMs, given }: CodeRow,
  { outcome, ...receipt }: Receipt,
): ChangedText {
  const reported = receipt.reported ?? receipt.error;
  const channel = given?.channel === undefined ? null : channelNames.indexOf(given.channel);
  const of = { id, applicationId, sender, to, sentAtMs, isCode: true, channel, dueAtMs: null };
  return { ...of, was: 'sent', now: outcome, wasUnsent: false, reported };
}

function toMoving({ id, applicationId, to, sender, given }: CodeRow): MovingText {
  return { id: fromUuid('msg', id), applicationId: fromUuid('app', applicationId), api: 'verify', to, sender, given };
}

/** Codes that only this carrier has. The receipt of one copy says nothing about another copy. */
const findStatement = `select m.id, m.application_id as "applicationId", m.verification_id as "verificationId",
      m.recipient as "to", m.sender, m.sent_at as "sentAtMs", m.route_given as given
    from unnest($3::uuid[], $4::text[]) as r(id, reported_id) join message m on m.id = r.id
    where m.id = any($3::uuid[]) and m.carrier = $1 and m.status = ${statusCode('sent')}
      and m.api = ${apiNames.indexOf('verify')} and m.verification_id is not null and m.expires_at >= $2
      and (m.possible_duplicates = 0 or m.carrier_message_id = r.reported_id)
      and not exists (select from text_attempt t where t.message_id = m.id and t.carrier <> $1)
    order by m.id for update of m`;

const moveStatement = `with chosen as (
      select c.*, m.application_id, m.lane, m.attempt, m.possible_duplicates, m.sent_at, m.carrier_message_id,
        m.expires_at
      from unnest($2::uuid[], $3::text[], $4::integer[], $5::text[], $6::smallint[], $7::smallint[], $8::text[])
        as c(id, carrier, route_version, route_name, receipt, error_code, words)
      join message m on m.id = c.id and m.id = any($2::uuid[])),
    kept as (
      insert into text_attempt (message_id, attempt, carrier, submitted_at, outcome, error_code, carrier_message_id,
        moved_to, route_version, route_name, receipt, receipt_reported)
      select id, attempt, $1, sent_at, ${attemptOutcomes.indexOf('accepted')}, error_code, carrier_message_id, carrier,
        route_version, route_name, receipt, words from chosen
      on conflict (message_id, attempt) do update set receipt = excluded.receipt, error_code = excluded.error_code,
        receipt_reported = excluded.receipt_reported,
        moved_to = excluded.moved_to, route_version = excluded.route_version, route_name = excluded.route_name),
    queued as (
      insert into delivery_queue (${queueColumns})
      select carrier, lane, application_id, id, attempt, 0, possible_duplicates, false, 1, expires_at from chosen),
    forgotten as (delete from text_part p using chosen c where p.message_id = c.id)
    update message m set carrier = c.carrier from chosen c where m.id = c.id and m.id = any($2::uuid[])`;
