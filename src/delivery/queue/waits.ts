// Tests: test/contract/operator-deliveries.test.ts
import { type Api, apiNames } from '../../http/route.ts';
import { nameOf, toIdRange } from '../../messages/message-row.ts';
import { isInRange } from '../../messages/message-store.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid } from '../../platform/ids.ts';
import { type AttemptOutcome, attemptOutcomes } from '../attempts/attempt.ts';

/** A text that waits, with the facts that say why. */
export interface WaitingEntry {
  id: string;
  applicationId: string;
  api: Api;
  /** The carrier's key. */
  carrier: string;
  to: string;
  sender: string;
  /** `queue`: it may leave now. `schedule`: later. `wire`: the carrier has not answered. */
  place: 'queue' | 'schedule' | 'wire';
  attempt: number;
  inDoubt: boolean;
  sendAtMs: number | null;
  /** When the hours of its route begin, and their zone. */
  deferredUntilMs: number | null;
  zone: string | null;
  lastOutcome: AttemptOutcome | null;
}

/** A row of the statement: the API and the outcome are still numbers. */
export interface WaitingRow extends Omit<WaitingEntry, 'api' | 'lastOutcome'> {
  api: number;
  lastOutcome: number | null;
}

/** Columns of a `WaitingRow`, from the message `m` and its entry `w`. */
export const waitColumns = `m.id, m.application_id as "applicationId", m.api, w.carrier, m.recipient as "to", m.sender,
    w.place, w.attempt, w.in_doubt as "inDoubt", m.send_at as "sendAtMs", m.deferred_until as "deferredUntilMs",
    (select t.routes -> m.route_rule::integer -> 'hours' ->> 'zone' from route_table t where t.version = m.route_version
      and m.deferred_until is not null) as zone,
    (select t.outcome from text_attempt t where t.message_id = m.id order by t.attempt desc limit 1) as "lastOutcome"`;

export function toWaiting<Row extends WaitingRow>(row: Row) {
  const { id, applicationId, api, lastOutcome, ...rest } = row;
  return {
    ...rest,
    id: fromUuid('msg', id),
    applicationId: fromUuid('app', applicationId),
    api: nameOf(apiNames, api),
    lastOutcome: lastOutcome === null ? null : (attemptOutcomes[lastOutcome] ?? null),
  };
}

/** Finds those of the messages that wait. */
export async function findWaits(tx: Tx, messageIds: string[]): Promise<WaitingEntry[]> {
  const { rows } = await tx.query<WaitingRow>(selectStatement, toIdRange(messageIds));
  return rows.map(toWaiting);
}

const selectStatement = `select ${waitColumns} from (select * from message where ${isInRange(1)}) m cross join lateral (
      select q.carrier, 'queue' as place, q.attempt, q.in_doubt from delivery_queue q
      where q.carrier = m.carrier and q.lane = m.lane and q.application_id = m.application_id and q.message_id = m.id
      union all
      select s.carrier, 'schedule', s.attempt, s.in_doubt from delivery_schedule s
      where s.application_id = m.application_id and s.message_id = m.id
      union all
      select d.carrier, 'wire', 0, true from delivery_claim d where d.carrier = m.carrier and m.id = any(d.message_ids)) w`;
