import type { AnsweredText } from './answered-text.ts';

/**
 * The segments that a submit adds to those that were counted when the text was accepted: parts that only the carrier's
 * charset makes, and every part of a copy.
 */
export function furtherSegments({ claimed, answer, isLate }: AnsweredText): number {
  // A submit with a late answer was counted before, as in doubt.
  if (isLate || (answer !== undefined && answer.outcome !== 'accepted' && answer.outcome !== 'in_doubt')) return 0;
  const { message, entry, parts } = claimed;
  const counted = message.segmentCount;
  const isCopy = entry.inDoubt || entry.possibleDuplicates > 0 || message.status === 'sent';
  if (!isCopy) return Math.max(0, (answer?.long?.total ?? counted) - counted);
  if (answer?.long === undefined) return counted;
  const before = new Set(parts.filter(({ state }) => state === 'accepted').map(({ part }) => part));
  return answer.long.parts.filter(({ part }) => !before.has(part)).length;
}

/** Further segments of each application; leaves out applications without any. */
export function furtherSegmentsOf(answers: readonly AnsweredText[]): { applicationId: string; segments: number }[] {
  const sums = new Map<string, number>();
  for (const answered of answers) {
    const segments = furtherSegments(answered);
    const { applicationId } = answered.claimed.message;
    if (segments > 0) sums.set(applicationId, (sums.get(applicationId) ?? 0) + segments);
  }
  return [...sums].map(([applicationId, segments]) => ({ applicationId, segments }));
}
