// Tests: test/parts/traces.test.ts
import { carrierNameOf } from '../../messages/message.ts';
import type { Clock } from '../../platform/clock.ts';
import { fromUuid } from '../../platform/ids.ts';
import type { Tracer } from '../../platform/tracing/tracer.ts';
import type { ReceiptsOptions } from './receipts.ts';

/** The spans of receipts that have changed a sampled text. */
export function createReceiptSpans(
  tracer: Tracer,
  clock: Pick<Clock, 'steadyMs'>,
): NonNullable<ReceiptsOptions['onTraced']> {
  return (carrier, texts, startMs) => {
    for (const { id, trace, now } of texts) {
      const ids = tracer.belowKept(trace);
      if (ids === undefined) continue;
      const attributes = {
        'heliograph.message_id': fromUuid('msg', id),
        'heliograph.carrier': carrierNameOf(carrier),
        'heliograph.status': now,
      };
      const endMs = clock.steadyMs();
      tracer.end({ ids, name: 'receipt', kind: 'consumer', startMs, endMs, attributes, failed: false });
    }
  };
}
