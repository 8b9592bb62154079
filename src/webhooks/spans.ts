// Tests: test/parts/traces.test.ts
import type { EmittedEvent } from '../events/event.ts';
import type { Clock } from '../platform/clock.ts';
import { toTraceparent } from '../platform/tracing/trace-context.ts';
import type { Tracer } from '../platform/tracing/tracer.ts';
import type { Attempted } from './attempt.ts';

/** The span of one attempt to deliver an event. */
export interface AttemptSpan {
  readonly traceparent: string;
  end(attempted: Attempted): void;
}

export interface AttemptSpans {
  /** Undefined unless the event is in a sampled trace. */
  begin(
    trace: string | undefined,
    about: { event: EmittedEvent; webhookId: string; attempt: number },
  ): AttemptSpan | undefined;
}

export function createAttemptSpans(tracer: Tracer, clock: Pick<Clock, 'steadyMs'>): AttemptSpans {
  return {
    begin(trace, { event, webhookId, attempt }) {
      const ids = tracer.belowKept(trace);
      if (ids === undefined) return undefined;
      const startMs = clock.steadyMs();
      return {
        traceparent: toTraceparent(ids),
        end({ outcome, statusCode }) {
          const attributes = {
            'heliograph.webhook_id': webhookId,
            'heliograph.event_id': event.id,
            'heliograph.event_type': event.type,
            'heliograph.application_id': event.application_id,
            'heliograph.attempt': attempt,
            'heliograph.outcome': outcome,
            'http.request.method': 'POST',
            'http.response.status_code': statusCode ?? undefined,
            'error.type': statusCode === null ? 'unanswered' : undefined,
          };
          const failed = outcome !== 'delivered';
          tracer.end({ ids, name: 'webhook', kind: 'client', startMs, endMs: clock.steadyMs(), attributes, failed });
        },
      };
    },
  };
}
