import type { TimelineEvent } from '../http/timeline.ts';
import { messageTimeline, type TrackedMessage } from '../messages/tracked-message.ts';
import { attemptsRemaining, type Verification } from './verification.ts';

/** The history of a verification and its texts. */
export function verificationTimeline(verification: Verification, texts: TrackedMessage[]): TimelineEvent[] {
  const { status, reason, createdAtMs, updatedAtMs, approvedAtMs, attempts, codeLength } = verification;
  const wrong = attempts === 0 ? '' : ` after ${attempts} wrong ${attempts === 1 ? 'code' : 'codes'}`;
  const events: TimelineEvent[] = [];
  if (status === 'blocked') {
    events.push({
      atMs: createdAtMs,
      event: 'blocked',
      detail: `The guard refused the start: ${reason}. Nothing was sent.`,
    });
    return events;
  }
  events.push({ atMs: createdAtMs, event: 'started', detail: `A code of ${codeLength} digits was created.` });
  for (const text of texts) events.push(...messageTimeline(text));
  switch (status) {
    case 'approved':
      events.push({
        atMs: approvedAtMs ?? updatedAtMs,
        event: status,
        detail: `The user entered the right code${wrong}.`,
      });
      break;
    case 'failed':
      events.push({ atMs: updatedAtMs, event: status, detail: `No tries are left${wrong}.` });
      break;
    case 'expired':
      events.push({ atMs: verification.expiresAtMs, event: status, detail: `The verification expired${wrong}.` });
      break;
    case 'canceled':
      events.push({ atMs: updatedAtMs, event: status, detail: `The verification was canceled: ${reason}.` });
      break;
    case 'pending':
      if (attempts > 0) {
        const left = attemptsRemaining(verification);
        const tries = left === 1 ? '1 try is left' : `${left} tries are left`;
        events.push({ atMs: updatedAtMs, event: 'checked', detail: `The user entered a wrong code; ${tries}.` });
      }
  }
  return events;
}
