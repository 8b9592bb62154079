// Tests: test/contract/operator-alerts.test.ts
import type { AlertKind, AlertRule } from '../alerts/alert.ts';
import { answersSlow, receiptsMissing, receiptsUnmatched, throttled } from './answers.ts';
import { conversionDrop, spend } from './codes-and-spend.ts';
import { accountRefused, bindDown, certificateExpiry } from './connections.ts';
import { suspectedPumping } from './pumping.ts';
import { bulkWaiting, codesWaiting } from './queues.ts';

/** Every alert of section 13 of the contract. */
export const alertRules: Record<AlertKind, AlertRule> = {
  bind_down: bindDown,
  account_refused: accountRefused,
  codes_waiting: codesWaiting,
  bulk_waiting: bulkWaiting,
  answers_slow: answersSlow,
  throttled,
  receipts_missing: receiptsMissing,
  receipts_unmatched: receiptsUnmatched,
  conversion_drop: conversionDrop,
  spend,
  suspected_pumping: suspectedPumping,
  certificate_expiry: certificateExpiry,
};
