import { Type } from 'typebox';
import { attemptOutcomes } from '../../delivery/attempts/attempt.ts';
import type { ShownAttempt } from '../../delivery/attempts/story.ts';
import { nullable } from '../../http/list-page.ts';
import { toTimestamp } from '../../platform/clock.ts';

/** The attempts of a text, as the portal shows them. */
export const attemptsSchema = Type.Array(
  Type.Object(
    {
      attempt: Type.Integer({ description: 'From 1' }),
      carrier: Type.String(),
      at: Type.String(),
      outcome: Type.String({ examples: ['accepted'], description: `${attemptOutcomes.join(', ')}` }),
      carrier_message_id: nullable(Type.String({ description: "The carrier's id of the text" })),
      error: nullable(Type.String({ description: 'Why the carrier refused it, or it did not arrive' })),
      route: nullable(Type.String({ description: 'The rule that chose the carrier' })),
      receipt: nullable(
        Type.String({
          description: 'The status in its receipt, if that came after the text had moved to another carrier',
        }),
      ),
      reported: nullable(
        Type.String({
          examples: [null],
          description: 'The error of the answer in the carrier’s own words, like 0x45: submit failed',
        }),
      ),
      receipt_reported: nullable(
        Type.String({
          examples: [null],
          description: 'A failure reported by a receipt, in the carrier’s own words, like stat:UNDELIV err:069',
        }),
      ),
      moved_to: nullable(Type.String({ description: 'The carrier that the text then moved to' })),
    },
    { title: 'SendAttempt' },
  ),
  { description: 'Every attempt to send it, in order' },
);

export function toAttempts(attempts: ShownAttempt[]) {
  return attempts.map(({ atMs, carrierMessageId, receiptReported, movedTo, ...shown }) => ({
    attempt: shown.attempt,
    carrier: shown.carrier,
    at: toTimestamp(atMs),
    outcome: shown.outcome,
    carrier_message_id: carrierMessageId,
    error: shown.error,
    route: shown.route,
    receipt: shown.receipt,
    reported: shown.reported,
    receipt_reported: receiptReported,
    moved_to: movedTo,
  }));
}
