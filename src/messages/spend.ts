// Tests: test/contract/spend.test.ts, test/parts/acceptance.test.ts
import type { Database, Tx } from '../platform/database/database.ts';
import { ApiError } from '../platform/errors.ts';
import { addSpend, lockSpend, readSpend, type Spending } from './spend-store.ts';

/** An application, and its maximum of segments a day; null for no limit. */
export interface Spender {
  applicationId: string;
  segmentsPerDay: number | null;
}

export function spendLimit({ segmentsPerDay }: Spender): ApiError {
  return new ApiError(
    'SPEND_LIMIT',
    `The text has more segments than are left of the application's ${segmentsPerDay} segments of the day (UTC). An operator can raise the limit.`,
  );
}

/** The remaining segments of the day for some applications. The transaction locks their counts until it ends. */
export interface HeldSpend {
  /** Takes the segments of a text, if enough are left. Always true for an application without a limit. */
  take(spender: Spender, segments: number): boolean;
  /** Whether no segment is left. */
  isUsedUp(spender: Spender): boolean;
  /** Stores the number of segments that were taken. */
  write(): Promise<void>;
}

export async function holdSpend(tx: Tx, spenders: Spender[], nowMs: number): Promise<HeldSpend> {
  const limits = limitsOf(spenders);
  const spent = limits.length === 0 ? new Map<string, number>() : await lockSpend(tx, limits, nowMs);
  const taken = new Map<string, { applicationId: string; segments: number; isFull: boolean }>();
  const takenOf = (applicationId: string) => taken.get(applicationId) ?? { applicationId, segments: 0, isFull: false };
  const left = ({ applicationId, segmentsPerDay }: Spender) => {
    if (segmentsPerDay === null) return Number.POSITIVE_INFINITY;
    return segmentsPerDay - (spent.get(applicationId) ?? 0) - takenOf(applicationId).segments;
  };
  return {
    take(spender, segments) {
      if (spender.segmentsPerDay === null) return true;
      const before = takenOf(spender.applicationId);
      const fits = segments <= left(spender);
      taken.set(
        spender.applicationId,
        fits ? { ...before, segments: before.segments + segments } : { ...before, isFull: true },
      );
      return fits;
    },
    isUsedUp: (spender) => left(spender) < 1,
    write: () => addSpend(tx, [...taken.values()], nowMs),
  };
}

/** The limited applications among these, each once. */
function limitsOf(spenders: Spender[]): Omit<Spending, 'segments'>[] {
  const limits = new Map<string, number>();
  for (const { applicationId, segmentsPerDay } of spenders) {
    if (segmentsPerDay !== null) limits.set(applicationId, segmentsPerDay);
  }
  return [...limits].map(([applicationId, most]) => ({ applicationId, most }));
}

/** Whether an application has no segment left today. That refusal comes before any other. */
export async function isUsedUp(
  database: Database,
  { applicationId, segmentsPerDay }: Spender,
  nowMs: number,
): Promise<boolean> {
  if (segmentsPerDay === null) return false;
  return (await readSpend(database, applicationId, nowMs)) >= segmentsPerDay;
}
