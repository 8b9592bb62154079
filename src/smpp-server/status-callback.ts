// Tests: test/smpp-server/receipts.test.ts
import { uuidOf } from '../platform/ids.ts';
import type { ReceiptWish } from './submit-fields.ts';

/**
 * Where a text reports its status, as `messages/message-events.ts` reads it: the receipts that were asked for, the
 * account, and the parts that have ids of their own.
 */
export function statusCallbackOf(wish: ReceiptWish, accountId: string, partIds: readonly string[]): string | undefined {
  return wish === '' ? undefined : `smpp:${wish}:${uuidOf(accountId)}:${partIds.map(uuidOf).join(',')}`;
}
