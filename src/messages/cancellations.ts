import type { Clock } from '../platform/clock.ts';
import { type Batch, createBatch } from '../platform/database/batch.ts';
import type { Database } from '../platform/database/database.ts';
import type { ShownMessage } from './message.ts';
import { cancelMessages, type MessageKey } from './message-store.ts';

/**
 * Cancels messages of many callers in one statement. Undefined for a message that does not exist or can no longer be
 * canceled.
 */
export function createCancellations(database: Database, clock: Clock): Batch<MessageKey, ShownMessage | undefined> {
  return createBatch<MessageKey, ShownMessage | undefined>({
    database,
    clock,
    repeatable: false,
    // If several requests name one message, the first cancels it.
    repeats: true,
    ownerOf: ({ applicationId }) => applicationId,
    keysOf: ({ id }) => [id],
    withoutTransaction: () => true,
    async run(tx, keys) {
      const canceled = await cancelMessages(tx, keys, clock.nowMs());
      return keys.map((key) => {
        const message = canceled.get(key.id);
        if (message?.applicationId !== key.applicationId || message.api !== key.api) return undefined;
        canceled.delete(key.id);
        return message;
      });
    },
  });
}
