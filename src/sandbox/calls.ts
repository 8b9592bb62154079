// Tests: test/contract/calls.test.ts
import { findMessages } from '../messages/message-store.ts';
import { type Clock, toTimestamp } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { isId, uuidOf } from '../platform/ids.ts';

/** What a person at a virtual phone does with a call. */
export const callActions = ['ring', 'answer', 'decline'] as const;
export type CallAction = (typeof callActions)[number];

export interface VirtualCalls {
  /** `over`: the call no longer rings. */
  act(applicationId: string, messageId: string, action: CallAction): Promise<'done' | 'over' | 'unknown'>;
  /** Which of these arrivals are calls that ring. */
  findRinging(arrivalIds: readonly number[]): Promise<ReadonlySet<number>>;
}

/** After this time a call ends without an answer. */
const longestRing = '20 seconds';

export function createVirtualCalls(database: Database, clock: Clock): VirtualCalls {
  const currentTime = () => toTimestamp(clock.nowMs());
  return {
    async act(applicationId, messageId, action) {
      const [message] = isId('msg', messageId) ? await findMessages(database, [messageId]) : [];
      if (message?.applicationId !== applicationId || message.channel !== 'voice') return 'unknown';
      const values = [uuidOf(messageId), uuidOf(applicationId), currentTime(), action];
      const { rows } = await database.query(actStatement, values);
      return rows.length > 0 ? 'done' : 'over';
    },

    async findRinging(arrivalIds) {
      if (arrivalIds.length === 0) return new Set();
      const { rows } = await database.query<{ id: number }>(ringingStatement, [arrivalIds, currentTime()]);
      return new Set(rows.map(({ id }) => id));
    },
  };
}

/** A call that is over has no row, or one whose time has come. What a person declined never reached them. */
const actStatement = {
  name: 'act-on-call',
  text: `with acted as (
      update handset_late_receipt l set delivered = $4 = 'answer',
        error = case $4 when 'decline' then 'busy' when 'ring' then 'no_answer' end,
        due_at = case $4 when 'ring' then t.received_at + interval '${longestRing}' else $3::timestamptz end
      from handset_text t
      where l.message_id = $1 and l.rings and l.due_at > $3 and t.id = l.handset_text_id and t.application_id = $2
      returning l.handset_text_id as id),
    declined as (
      update handset_text set delivered = false where $4 = 'decline' and id in (select id from acted))
    select id from acted`,
};

const ringingStatement = {
  name: 'find-ringing-calls',
  text: `select handset_text_id as id from handset_late_receipt
    where handset_text_id = any($1::bigint[]) and rings and due_at > $2`,
};
