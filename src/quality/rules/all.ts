// Tests: test/contract/operator-alerts.test.ts
import { type AlertKind, type AlertRule, alertKinds } from '../alerts/alert.ts';
import { answersSlow, receiptsMissing, receiptsUnmatched } from './answers.ts';
import { nameCauses } from './causes.ts';
import { conversionDrop, spend } from './codes-and-spend.ts';
import { accountRefused, bindDown, certificateExpiry } from './connections.ts';
import { refused, throttled, undelivered } from './outcomes.ts';
import { suspectedPumping } from './pumping.ts';
import { bulkWaiting, codesWaiting } from './queues.ts';

/** Every alert of section 13 of the contract. */
const alertRules: Record<AlertKind, AlertRule> = {
  bind_down: bindDown,
  account_refused: accountRefused,
  codes_waiting: codesWaiting,
  bulk_waiting: bulkWaiting,
  answers_slow: answersSlow,
  throttled,
  refused,
  undelivered,
  receipts_missing: receiptsMissing,
  receipts_unmatched: receiptsUnmatched,
  conversion_drop: conversionDrop,
  spend,
  suspected_pumping: suspectedPumping,
  certificate_expiry: certificateExpiry,
};

/** Everything that is wrong, causes before symptoms. */
export const judgeAll: AlertRule = (facts) => nameCauses(alertKinds.flatMap((kind) => alertRules[kind](facts)));
