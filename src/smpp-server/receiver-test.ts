// Tests: test/smpp-server/receipts.test.ts
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { newId } from '../platform/ids.ts';
import type { SmppAccount } from './account.ts';
import { deleteDeliveries, insertTest, readAttempts } from './delivery-store.ts';

const [mostSteps, stepMs] = [100, 50];

/** Sends one text to the account's receivers, on whichever node they are, and waits for its acknowledgement. */
export async function testReceivers(
  { database, clock }: { database: Database; clock: Clock },
  { id: accountId, applicationId }: Pick<SmppAccount, 'id' | 'applicationId'>,
): Promise<{ outcome: 'acknowledged' | 'unanswered' | 'not_sent'; milliseconds: number }> {
  const sentMs = clock.steadyMs();
  const delivery = await insertTest(database, { accountId, applicationId }, newId('bnd', clock), clock.nowMs());
  let attempts: number | undefined = 0;
  const elapsed = () => Math.round(clock.steadyMs() - sentMs);
  for (let step = 0; step < mostSteps; step++) {
    await new Promise((resolve) => setTimeout(resolve, stepMs));
    attempts = await readAttempts(database, delivery);
    if (attempts === undefined) return { outcome: 'acknowledged', milliseconds: elapsed() };
  }
  await deleteDeliveries(database, [delivery]);
  return { outcome: attempts === 0 ? 'not_sent' : 'unanswered', milliseconds: elapsed() };
}
