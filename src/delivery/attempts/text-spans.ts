// Tests: test/parts/traces.test.ts
import { carrierNameOf, laneNames } from '../../messages/message.ts';
import type { Clock } from '../../platform/clock.ts';
import type { SpanAttributes } from '../../platform/tracing/span.ts';
import type { Tracer } from '../../platform/tracing/tracer.ts';
import type { SubmitResult } from '../carrier/carrier.ts';
import type { AnsweredText } from './answered-text.ts';
import type { Claim } from './queued-text.ts';

/** The spans of sampled texts, from the claim on. They do not name the application, because the span of the request does. */
export interface TextSpans {
  /** Ends the spans of a claim that began at `sinceMs`, and begins those of its submits. */
  noteClaim(carrier: string, claim: Claim, sinceMs: number): void;
  noteAnswers(carrier: string, texts: readonly AnsweredText[]): void;
}

export function createTextSpans(tracer: Tracer, clock: Pick<Clock, 'steadyMs'>): TextSpans {
  return {
    noteClaim(carrier, { texts }, sinceMs) {
      for (const claimed of texts) {
        const { message, entry } = claimed;
        const ids = tracer.belowKept(message.trace);
        if (ids === undefined) continue;
        // One literal: spreading an object into another costs as much as three spans.
        const attributes: SpanAttributes = {
          'heliograph.message_id': message.id,
          'heliograph.carrier': carrierNameOf(carrier),
          'heliograph.attempt': entry.attempt + 1,
          'heliograph.lane': laneNames[entry.lane],
        };
        const endMs = clock.steadyMs();
        tracer.end({ ids, name: 'claim', kind: 'consumer', startMs: sinceMs, endMs, attributes, failed: false });
        claimed.submitSpan = tracer.below(ids);
      }
    },

    noteAnswers(carrier, texts) {
      for (const { claimed, answer, tookMs = 0, answeredAtMs: endMs } of texts) {
        const { message, entry, submitSpan: ids } = claimed;
        // The span of a late answer's submit has ended already, and the span of a throttled submit goes on.
        if (ids === undefined || endMs === undefined) continue;
        const attributes: SpanAttributes = {
          'heliograph.message_id': message.id,
          'heliograph.carrier': carrierNameOf(carrier),
          'heliograph.attempt': entry.attempt + 1,
          'heliograph.segments': message.segmentCount,
          'heliograph.outcome': answer?.outcome ?? 'in_doubt',
          'error.type': errorOf(answer),
        };
        const failed = answer === undefined || answer.outcome === 'never' || answer.outcome === 'in_doubt';
        tracer.end({ ids, name: 'submit', kind: 'client', startMs: endMs - tookMs, endMs, attributes, failed });
      }
    },
  };
}

function errorOf(answer: SubmitResult | undefined): string | undefined {
  return answer !== undefined && 'error' in answer ? answer.error : undefined;
}
