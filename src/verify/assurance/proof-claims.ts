// Tests: test/contract/proof-claims.test.ts
import type { Channel } from '../../messages/channel.ts';
import { failedEnds } from '../../messages/text/failed-text.ts';
import type { SentText } from '../../messages/text/sent-texts.ts';
import type { Verification } from '../verification.ts';
import { type Payment, readPaymentCell } from './payment.ts';
import { heldProfile, readPrecheckCell } from './precheck.ts';

/** What a proof says of how the number was verified; never more than what was checked. */
export interface ProofClaimsOfCheck {
  /** RFC 8176, with the channel that carried the code. */
  amr: readonly string[];
  /** The profile whose every rule held, the risk check's answer included. */
  assurance?: string;
  payment?: Payment;
}

/** `all`: the texts of a verification that has several, oldest first. */
export function claimsOf(
  row: Pick<Verification, 'channel' | 'payment' | 'precheck' | 'approvedAtMs'>,
  all: readonly SentText[] | undefined,
): ProofClaimsOfCheck {
  const { channel, payment, precheck } = row;
  // A profile holds only if every send kept its rules, so it does not depend on the send that carried the code.
  const assurance = precheck === null ? null : heldProfile(readPrecheckCell(precheck));
  return {
    amr: channel === 'inbound' ? ['inbound'] : ['otp', channelOf(row, all ?? [])],
    ...(assurance !== null && { assurance }),
    ...(payment !== null && { payment: readPaymentCell(payment) }),
  };
}

/**
 * The channel of the newest send that a carrier accepted before the approval and that did not fail; else of the newest that
 * did not fail; else of the row.
 */
function channelOf(
  { channel, approvedAtMs }: Pick<Verification, 'channel' | 'approvedAtMs'>,
  all: readonly SentText[],
): Channel {
  const possible = all.filter(({ status }) => status !== 'canceled' && !failedEnds.includes(status));
  const isBefore = ({ sentAtMs }: SentText) => sentAtMs !== null && sentAtMs <= (approvedAtMs ?? sentAtMs);
  return (possible.findLast(isBefore) ?? possible.at(-1))?.channel ?? channel;
}
