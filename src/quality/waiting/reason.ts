// Tests: src/quality/waiting/reason.test.ts
import type { AttemptOutcome } from '../../delivery/attempts/attempt.ts';
import type { KnownCarrier } from '../../delivery/routing/directory.ts';

/** Why a text waits. */
export type WaitKind =
  | 'sending'
  | 'in_doubt'
  | 'scheduled'
  | 'hours'
  | 'unroutable'
  | 'deleted'
  | 'paused'
  | 'not_running'
  | 'down'
  | 'throttled'
  | 'retry'
  | 'rate_limit';

export interface WaitFacts {
  nowMs: number;
  /** `queue`: it may leave now. `schedule`: later. `wire`: the carrier has not answered. */
  place: 'queue' | 'schedule' | 'wire';
  attempt: number;
  inDoubt: boolean;
  /** When the caller wants it sent, if later than at once. */
  sendAtMs: number | null;
  /** When the hours of its route begin, and their zone. */
  deferredUntilMs: number | null;
  zone: string | null;
  lastOutcome: AttemptOutcome | null;
  carrierName: string;
  /** Undefined once the carrier is deleted; null for the carrier of the virtual handsets. */
  carrier: Pick<KnownCarrier, 'paused' | 'state' | 'binds' | 'downSinceMs'> | undefined | null;
  /** No route matches its number. */
  unroutable: boolean;
}

/** The reason for a wait; `forDevelopers` names no carrier. */
export interface Wait {
  kind: WaitKind;
  forOperators: string;
  forDevelopers: string;
}

/** Why a text waits. The first rule that matches counts. */
export function waitOf(facts: WaitFacts): Wait {
  const { nowMs, place, inDoubt, sendAtMs, deferredUntilMs, carrier, carrierName: name } = facts;
  if (place === 'wire')
    return wait('sending', `Waiting for the answer of ${name}.`, 'Waiting for the carrier’s answer.');
  if (inDoubt)
    return wait(
      'in_doubt',
      `${name} did not answer. The text may have arrived.`,
      'The carrier did not answer. The text may have arrived.',
    );
  if (deferredUntilMs !== null && deferredUntilMs > nowMs)
    return same(
      'hours',
      `Waiting for ${timeIn(facts.zone, deferredUntilMs, nowMs)}, when the hours of its route begin.`,
    );
  if (sendAtMs !== null && sendAtMs > nowMs)
    return same('scheduled', `Scheduled for ${timeIn(null, sendAtMs, nowMs)}.`);
  if (facts.unroutable) return same('unroutable', 'No route matches its number.');
  if (carrier === undefined)
    return wait('deleted', `${name} is deleted. Waiting for another carrier.`, 'Waiting for another carrier.');
  if (carrier?.paused)
    return wait('paused', `Waiting for ${name}, which is paused.`, 'The operator has paused sending.');
  if (carrier?.state === 'not_running')
    return wait('not_running', `Waiting for ${name}: no worker runs it.`, 'Waiting for the carrier, which is down.');
  if (carrier?.state === 'down') return down(facts, carrier);
  if (facts.lastOutcome === 'throttled')
    return wait('throttled', `Throttled by ${name}${tries(facts)}.`, `Throttled by the carrier${tries(facts)}.`);
  if (facts.attempt > 0)
    return wait(
      'retry',
      `${name} could not take it${tries(facts)}. It is tried again.`,
      `The carrier could not take it${tries(facts)}. It is tried again.`,
    );
  return wait(
    'rate_limit',
    `Waiting for its turn: ${name} is at its rate limit.`,
    'Waiting for its turn: the carrier is at its rate limit.',
  );
}

function down(
  { nowMs, carrierName: name }: WaitFacts,
  { binds, downSinceMs }: NonNullable<WaitFacts['carrier']>,
): Wait {
  const since = downSinceMs === undefined || downSinceMs === null ? '' : ` since ${timeIn(null, downSinceMs, nowMs)}`;
  const error = binds.find((bind) => bind.error !== null)?.error;
  const why = error === undefined || error === null ? '' : ` ${error}`;
  return wait('down', `Waiting for ${name}, down${since}.${why}`, `Waiting for the carrier, down${since}.`);
}

function tries({ attempt }: WaitFacts): string {
  return attempt === 0 ? '' : ` (${attempt} ${attempt === 1 ? 'attempt' : 'attempts'} so far)`;
}

function wait(kind: WaitKind, forOperators: string, forDevelopers: string): Wait {
  return { kind, forOperators, forDevelopers };
}

function same(kind: WaitKind, sentence: string): Wait {
  return wait(kind, sentence, sentence);
}

/** `9:00 in Paris`, or `9:00 UTC`; with the day unless that is within half a day. */
function timeIn(zone: string | null, atMs: number, nowMs: number): string {
  const day = Math.abs(atMs - nowMs) < 12 * 3_600_000 ? {} : ({ month: 'short', day: 'numeric' } as const);
  const time = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone ?? 'UTC',
    hour: 'numeric',
    minute: '2-digit',
    ...day,
  }).format(atMs);
  const place = zone?.split('/').at(-1)?.replaceAll('_', ' ');
  return place === undefined || zone === 'UTC' ? `${time} UTC` : `${time} in ${place}`;
}
