// Tests: test/contract/portal-usage.test.ts
import type { Api } from '../../http/route.ts';
import type { MessagesOfStep } from '../../messages/message-usage-store.ts';
import type { RequestsOfStep } from '../../metering/usage-store.ts';
import { dayMs, hourMs, minuteMs } from '../../platform/clock.ts';
import type { Span } from '../../platform/work/steps.ts';
import type { VerificationsOfStep } from '../../verify/verification-usage-store.ts';

export const stepNames = ['minute', 'hour', 'day'] as const;
export type StepName = (typeof stepNames)[number];

/** The length of each step, and the maximum steps in a span: a chart has no room for more. */
export const steps: Record<StepName, { ms: number; most: number }> = {
  minute: { ms: minuteMs, most: 1440 },
  hour: { ms: hourMs, most: 24 * 31 },
  day: { ms: dayMs, most: 366 },
};

export interface Usage {
  admitted: number;
  refused: number;
  messages: number;
  segments: number;
  verifications: number;
  approved: number;
}

export interface ApiUsage {
  totals: Usage;
  /** Messages (verifications for the Verification API) by current state. */
  states: Record<string, number>;
  /** Every step of the span, empty ones included. */
  steps: (Usage & { atMs: number; perMinute: number | null })[];
}

/** Widens a span to whole steps. */
export function coverSpan(fromMs: number, toMs: number, { ms }: { ms: number }): { fromMs: number; toMs: number } {
  return { fromMs: Math.floor(fromMs / ms) * ms, toMs: Math.ceil(toMs / ms) * ms };
}

/** Combines request, message and verification counts for one API. */
export function usageOf(
  api: Api,
  span: Omit<Span, 'applicationId'>,
  counted: {
    requests: RequestsOfStep[];
    messages: MessagesOfStep[];
    verifications: VerificationsOfStep[];
  },
): ApiUsage {
  const first = span.fromMs / span.stepMs;
  const all = Array.from({ length: (span.toMs - span.fromMs) / span.stepMs }, (_, index) => ({
    atMs: span.fromMs + index * span.stepMs,
    perMinute: null as number | null,
    ...nothing(),
  }));
  const totals = nothing();
  const states: Record<string, number> = {};
  const add = (step: number, field: keyof Usage, by: number) => {
    const at = all[step - first];
    if (at !== undefined) at[field] += by;
    totals[field] += by;
  };
  const addState = (status: string, by: number) => {
    states[status] = (states[status] ?? 0) + by;
  };

  for (const { step, admitted, refused, perMinute } of counted.requests.filter((row) => row.api === api)) {
    add(step, 'admitted', admitted);
    add(step, 'refused', refused);
    const at = all[step - first];
    // An application that registered again within a step has two rows for it.
    if (at !== undefined) at.perMinute = Math.max(at.perMinute ?? 0, perMinute);
  }
  for (const { step, status, count, segments } of counted.messages.filter((row) => row.api === api)) {
    add(step, 'messages', count);
    add(step, 'segments', segments);
    if (api !== 'verify') addState(status, count);
  }
  if (api === 'verify') {
    for (const { step, status, count } of counted.verifications) {
      // Verifications that the guard blocked are not metered (CONTRACT, section 6).
      if (status !== 'blocked') add(step, 'verifications', count);
      if (status === 'approved') add(step, 'approved', count);
      addState(status, count);
    }
  }
  return { totals, states, steps: all };
}

function nothing(): Usage {
  return { admitted: 0, refused: 0, messages: 0, segments: 0, verifications: 0, approved: 0 };
}
