import { Type } from 'typebox';
import type { ToldAttempt } from '../delivery/attempt-story.ts';
import { attemptOutcomes } from '../delivery/text-attempt.ts';
import { nullable } from '../http/list-page.ts';
import { toTimestamp } from '../platform/clock.ts';

/** The attempts of a text, as the portal shows them. */
export const attemptsSchema = Type.Array(
  Type.Object(
    {
      attempt: Type.Integer({ description: 'From 1' }),
      carrier: Type.String(),
      at: Type.String(),
      outcome: Type.String({ examples: ['accepted'], description: `${attemptOutcomes.join(', ')}` }),
      carrier_message_id: nullable(Type.String({ description: "The carrier's id of the text" })),
      error: nullable(Type.String({ description: 'Why it was not taken, or did not arrive' })),
      route: nullable(Type.String({ description: 'The rule that chose the carrier' })),
      receipt: nullable(Type.String({ description: 'What its receipt said after the text had gone on' })),
      moved_to: nullable(Type.String({ description: 'The carrier that the text then went on to' })),
    },
    { title: 'SendAttempt' },
  ),
  { description: 'Every attempt to send it, in order' },
);

export function toAttempts(attempts: ToldAttempt[]) {
  return attempts.map(({ attempt, carrier, atMs, outcome, carrierMessageId, error, route, receipt, movedTo }) => ({
    attempt,
    carrier,
    at: toTimestamp(atMs),
    outcome,
    carrier_message_id: carrierMessageId,
    error,
    route,
    receipt,
    moved_to: movedTo,
  }));
}
