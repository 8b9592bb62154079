// Tests: test/contract/inbound-verifications.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Tx } from '../../platform/database/database.ts';
import { approveByText, findWaiting } from './approval-store.ts';
import { noteRefused } from './refused-texts.ts';
import { inboundOf, isSameText } from './request-text.ts';

/** A text from a phone, with the carrier that brought it. */
export interface TextFromPhone {
  from: string;
  to: string;
  text: string;
  carrier: string;
}

/** The id of the verification that the text approved; undefined for any other text, which goes its usual way. */
export type ApproveByText = (tx: Tx, text: TextFromPhone) => Promise<string | undefined>;

export interface InboundApprovalOptions {
  keys: KeyRing;
  clock: Clock;
  /** Whether the network behind the carrier vouches for the sender's number. */
  isTrusted: (tx: Tx, carrier: string) => Promise<boolean>;
  /**
   * Whether the application holds the number at the carrier. If so, it cannot lose the number until the transaction ends.
   */
  holds: (tx: Tx, held: { applicationId: string; number: string; carrier: string }) => Promise<boolean>;
}

/** Approves verifications by the texts that people send: from their number, to the application's, word for word. */
export function createInboundApprovals({ keys, clock, isTrusted, holds }: InboundApprovalOptions): ApproveByText {
  return async (tx, { from, to, text, carrier }) => {
    const nowMs = clock.nowMs();
    const asked = (await findWaiting(tx, from, nowMs)).find((waiting) => {
      const wanted = inboundOf(keys, waiting);
      return wanted?.number === to && isSameText(wanted.text, text);
    });
    const trusted = asked !== undefined && (await isTrusted(tx, carrier));
    const held = trusted && (await holds(tx, { applicationId: asked.applicationId, number: to, carrier }));
    if (held && (await approveByText(tx, asked.id, nowMs))) return asked.id;
    await noteRefused(tx, keys, { from, to, text, trusted }, nowMs);
    return undefined;
  };
}
