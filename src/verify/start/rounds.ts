// Tests: test/races/verifications.test.ts
import type { AnswerToKeep } from '../../platform/database/idempotency.ts';
import { ApiError } from '../../platform/errors.ts';
import { continuationOf, type StartDecisionOptions } from './decision.ts';
import type { StartAnswer, StartItem } from './item.ts';

export interface StartRounds {
  /** Decides and commits starts. Nearly every start has its own number. */
  start: (items: StartItem[]) => Promise<(StartAnswer | ApiError)[]>;
  keep: (answers: AnswerToKeep[]) => Promise<void>;
  nowMs: () => number;
  keys: StartDecisionOptions['keys'];
}

/**
 * Decides one start per number and round. Other starts for the number that change nothing get the same record, as they would
 * after the commit; the rest wait for the next round.
 */
export async function startInRounds(items: StartItem[], rounds: StartRounds): Promise<(StartAnswer | ApiError)[]> {
  const answers = new Map<StartItem, StartAnswer | ApiError>();
  /** Blocked starts change nothing, so those for one number and channel need not wait for each other. */
  const blocked = new Set<string>();
  for (let left = items; left.length > 0; left = left.filter((item) => !answers.has(item))) {
    const round = firstOfEach(left, blocked);
    const started = await rounds.start(round);
    const first = new Map<string, StartAnswer>();
    round.forEach((item, index) => {
      const answer = started[index];
      if (answer === undefined) throw new Error('a start has no answer');
      answers.set(item, answer);
      // The result of a fallback step says nothing about starts for the number.
      if (item.request.step !== undefined) return;
      if (answer instanceof ApiError || answer.verification.status !== 'pending') blocked.add(nameByChannel(item));
      else first.set(nameOf(item), answer);
    });
    await answerFollowers(left, first, answers, rounds);
  }
  return items.map((item) => answers.get(item) as StartAnswer | ApiError);
}

async function answerFollowers(
  left: StartItem[],
  first: Map<string, StartAnswer>,
  answers: Map<StartItem, StartAnswer | ApiError>,
  { keep, nowMs, keys }: StartRounds,
): Promise<void> {
  const kept: AnswerToKeep[] = [];
  for (const item of left) {
    const open = first.get(nameOf(item));
    if (answers.has(item) || open === undefined) continue;
    const pending = { verification: open.verification, superseded: [], channels: [] };
    if (continuationOf(keys, pending, item.request, nowMs()) !== 'leave') {
      // This start changes the verification, so it waits for the next round, and so do later ones for the number.
      first.delete(nameOf(item));
      continue;
    }
    const answer = { ...open, record: { ...open.record, sent: false }, carriers: [] };
    answers.set(item, answer);
    kept.push(...[item.keep(answer) ?? []].flat());
  }
  if (kept.length > 0) await keep(kept);
}

function firstOfEach(items: StartItem[], blocked: ReadonlySet<string>): StartItem[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const name = nameOf(item);
    if (blocked.has(nameByChannel(item))) return true;
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}

const nameOf = ({ request: { applicationId, to } }: StartItem) => `${applicationId} ${to}`;
const nameByChannel = (item: StartItem) => `${nameOf(item)} ${item.request.channel}`;
