import type { Verification } from '../verification.ts';
import { type Payment, readPaymentCell } from './payment.ts';

/** What a proof says of how the number was verified; never more than what was checked. */
export interface ProofClaimsOfCheck {
  /** RFC 8176, with the channel that carried the code. */
  amr: readonly string[];
  payment?: Payment;
}

export function claimsOf({ channel, payment }: Pick<Verification, 'channel' | 'payment'>): ProofClaimsOfCheck {
  return { amr: ['otp', channel], ...(payment !== null && { payment: readPaymentCell(payment) }) };
}
