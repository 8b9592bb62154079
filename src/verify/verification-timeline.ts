// Tests: test/contract/portal-records.test.ts
import type { TimelineEvent } from '../http/timeline.ts';
import { messageTimeline, type TrackedMessage } from '../messages/tracked-message.ts';
import type { Tx } from '../platform/database/database.ts';
import { readPrecheckCell, riskSentence } from './assurance/precheck.ts';
import type { TakenStep } from './fallback/plan.ts';
import { findTaken } from './fallback/store.ts';
import { findRefused, type RefusedText, refusalSentence } from './inbound/refused-texts.ts';
import { attemptsRemaining, type Verification } from './verification.ts';

/** Events that the verification's row does not hold. */
interface Further {
  steps?: readonly TakenStep[];
  refused?: readonly RefusedText[];
}

/** The history of a verification, with the events that are stored outside its row. */
export async function readVerificationTimeline(
  tx: Tx,
  verification: Verification,
  texts: TrackedMessage[],
): Promise<TimelineEvent[]> {
  const { id, inbound } = verification;
  const further = inbound === null ? { steps: await findTaken(tx, id) } : { refused: await findRefused(tx, id) };
  return verificationTimeline(verification, texts, further);
}

/** The history of a verification and its texts. */
export function verificationTimeline(
  verification: Verification,
  texts: TrackedMessage[],
  { steps = [], refused = [] }: Further = {},
): TimelineEvent[] {
  const { status, reason, createdAtMs, updatedAtMs, approvedAtMs, attempts, codeLength } = verification;
  const wrong = attempts === 0 ? '' : ` after ${attempts} wrong ${attempts === 1 ? 'code' : 'codes'}`;
  const isInbound = verification.inbound !== null;
  const events: TimelineEvent[] = [];
  const { risk } = readPrecheckCell(verification.precheck);
  // A row keeps only the answer of the risk check before its newest text.
  const riskAtMs = texts.at(-1)?.createdAtMs ?? createdAtMs;
  if (risk !== null) events.push({ atMs: riskAtMs, event: 'risk', detail: riskSentence(risk) });
  if (status === 'blocked') {
    events.push({
      atMs: createdAtMs,
      event: 'blocked',
      detail: `Blocked by ${reason === 'risk' ? 'the risk check' : `the guard (${reason})`}. No text was sent.`,
    });
    return events;
  }
  events.push({
    atMs: createdAtMs,
    event: 'started',
    detail: isInbound ? 'Waits for a text of the person' : `Code of ${codeLength} digits created`,
  });
  events.push(...steps.map(toEvent));
  for (const text of refused) events.push({ atMs: text.atMs, event: 'refused', detail: refusalSentence(text) });
  for (const text of texts) events.push(...messageTimeline(text));
  switch (status) {
    case 'approved':
      events.push({
        atMs: approvedAtMs ?? updatedAtMs,
        event: status,
        detail: isInbound ? 'The text arrived from the number' : `${approvedBy(verification)}${wrong}`,
      });
      break;
    case 'failed':
      events.push({ atMs: updatedAtMs, event: status, detail: `${failedBy(verification)}${wrong}` });
      break;
    case 'expired':
      events.push({ atMs: verification.expiresAtMs, event: status, detail: `Expired${wrong}` });
      break;
    case 'canceled':
      events.push({ atMs: updatedAtMs, event: status, detail: `Canceled (${reason})` });
      break;
    case 'pending':
      if (attempts > 0) {
        const left = attemptsRemaining(verification);
        const tries = `${left} ${left === 1 ? 'attempt' : 'attempts'} left`;
        events.push({ atMs: updatedAtMs, event: 'checked', detail: `Wrong code, ${tries}` });
      }
  }
  return events;
}

/** An outcome means that the application checked its own code, not this service. */
const approvedBy = ({ outcome }: Verification) =>
  outcome === null ? 'Correct code entered' : 'The application reported that its code was entered';
const failedBy = ({ outcome }: Verification) =>
  outcome === null ? 'No attempts left' : 'The application reported that its code was not entered';

/** Why the code went on to the next channel, or did not. */
function toEvent({ atMs, channel, because, afterSeconds, skipped, risk }: TakenStep): TimelineEvent {
  const why = because === 'failed' ? 'The previous send failed' : `The code was not entered within ${afterSeconds} s`;
  const what =
    skipped === undefined ? `the code is sent by ${channel}` : `the code is not sent by ${channel} (${skipped})`;
  const ending = risk === undefined ? '' : `, and the fallback ends. ${riskSentence(risk, 'step')}`;
  return { atMs, event: 'fallback', detail: `${why}: ${what}${ending}` };
}
