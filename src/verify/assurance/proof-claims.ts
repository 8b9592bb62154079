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

export function claimsOf(row: Pick<Verification, 'channel' | 'payment' | 'precheck'>): ProofClaimsOfCheck {
  const { channel, payment, precheck } = row;
  const assurance = precheck === null ? null : heldProfile(readPrecheckCell(precheck));
  return {
    amr: channel === 'inbound' ? ['inbound'] : ['otp', channel],
    ...(assurance !== null && { assurance }),
    ...(payment !== null && { payment: readPaymentCell(payment) }),
  };
}
