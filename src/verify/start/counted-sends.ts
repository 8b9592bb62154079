// Tests: test/races/channel-limits.test.ts
import type { Message } from '../../messages/message.ts';
import { prefixOf } from '../../messages/numbers/number-prefix.ts';
import type { Tx } from '../../platform/database/database.ts';
import { uuidOf } from '../../platform/ids.ts';
import type { Verification } from '../verification.ts';

interface Sent {
  verification: Pick<Verification, 'applicationId' | 'to'>;
  message: Pick<Message, 'id'> | undefined;
}

/** Counts sends of pending verifications for the guard, as it counts starts. The ids of texts hold their time too. */
export async function insertCountedSends(tx: Tx, sends: readonly Sent[], countsPrefixes: boolean): Promise<void> {
  if (sends.length === 0) return;
  await tx.query(statement, [
    sends.map(({ message }) => uuidOf(message?.id ?? '')),
    sends.map(({ verification }) => uuidOf(verification.applicationId)),
    sends.map(({ verification }) => verification.to),
    sends.map(({ verification }) => prefixOf(verification.to)),
    countsPrefixes,
  ]);
}

const statement = {
  name: 'insert-counted-sends',
  text: `with s as (select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[])
      as s(message_id, application_id, recipient, prefix)),
    neighbours as (
      insert into counted_start (application_id, prefix, verification_id)
      select application_id, prefix, message_id from s where $5::boolean)
    insert into counted_send (recipient, application_id, message_id)
    select recipient, application_id, message_id from s`,
};
