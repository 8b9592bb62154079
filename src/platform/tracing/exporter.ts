import type { Clock } from '../clock.ts';
import { randomFraction } from '../crypto/random.ts';
import type { Log } from '../log.ts';
import { createOtlpHead } from './otlp.ts';
import { createOtlpClient } from './otlp-client.ts';
import type { EndedSpan } from './span.ts';
import { createSpanQueue } from './span-queue.ts';

export type SpanCount = 'exported' | 'dropped' | 'refused';

export interface ExporterOptions {
  clock: Clock;
  log: Pick<Log, 'warn' | 'info'>;
  url: string;
  headers: Record<string, string>;
  resource: ReadonlyMap<string, string>;
  version: string;
  onCount: (name: SpanCount, by: number) => void;
  timeoutMs?: number;
}

export interface Exporter {
  add(span: EndedSpan): void;
  /** Sends what waits, within `ms`; the rest is dropped. */
  stop(ms?: number): Promise<void>;
}

/** How long a span waits for others to fill its batch. */
const gatherMs = 1000;
const backOff = { fromMs: 1000, toMs: 30_000 };
const endWithinMs = 3000;

/**
 * Sends ended spans to the collector in batches, one request at a time. Nothing waits for it: what does not fit into the
 * queue is dropped, and a collector that is away costs one request every 30 s.
 */
export function createExporter(options: ExporterOptions): Exporter {
  const { clock, log, onCount } = options;
  const head = createOtlpHead(options.resource, { name: 'heliograph', version: options.version });
  const client = createOtlpClient({ ...options, nowMs: clock.nowMs });
  const queue = createSpanQueue();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let failures = 0;
  let stopping = false;
  let refusedBefore = '';
  let aheadMs = clock.nowMs() - clock.steadyMs();
  let aheadAtMs = clock.steadyMs();

  function count(name: SpanCount, by: number): void {
    if (by > 0) onCount(name, by);
  }

  /** How far wall-clock time is ahead of steady time; read at most once a second. */
  function ahead(): number {
    const nowMs = clock.steadyMs();
    if (nowMs - aheadAtMs > 1000) {
      aheadAtMs = nowMs;
      aheadMs = clock.nowMs() - nowMs;
    }
    return aheadMs;
  }

  function schedule(ms: number): void {
    if (stopping) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      begin();
    }, ms).unref();
  }

  function begin(): void {
    if (sending !== undefined) return;
    sending = sendWaiting().finally(() => {
      sending = undefined;
      if (queue.hasSpans && failures === 0) schedule(gatherMs);
    });
  }

  async function sendWaiting(): Promise<void> {
    for (let batch = queue.take(); batch !== undefined; batch = queue.take()) {
      const sent = await client.send(head.before(batch.bytes.length), batch.bytes);
      if (sent.outcome === 'retry') {
        count('dropped', queue.putBack(batch));
        waitAfter(sent.reason, sent.afterMs);
        return;
      }
      count(sent.outcome === 'taken' ? 'exported' : 'refused', batch.spans);
      noteWorks(sent.outcome === 'refused' ? sent.reason : '');
      // Spans that arrived meanwhile wait for more, unless they fill a batch.
      if (!queue.isFull && !stopping) return;
    }
  }

  function waitAfter(reason: string, afterMs: number | undefined): void {
    if (failures === 0) log.warn({ reason }, 'the collector does not take spans; will retry');
    failures++;
    const longest = Math.min(backOff.toMs, backOff.fromMs * 2 ** (failures - 1));
    schedule(Math.max(afterMs ?? 0, longest * (0.5 + randomFraction() / 2)));
  }

  /** A collector that refuses every batch is logged once for each reason. */
  function noteWorks(refusal: string): void {
    if (failures > 0) log.info({}, 'the collector takes spans again');
    failures = 0;
    if (refusal !== '' && refusal !== refusedBefore) log.warn({ reason: refusal }, 'the collector refuses spans');
    refusedBefore = refusal;
  }

  return {
    add(span) {
      if (stopping) return;
      count('dropped', queue.add(span, ahead()));
      if (failures > 0 || sending !== undefined) return;
      if (queue.isFull) begin();
      else schedule(gatherMs);
    },
    async stop(ms = endWithinMs) {
      stopping = true;
      clearTimeout(timer);
      const late = setTimeout(client.close, ms);
      await sending;
      if (failures === 0) await sendWaiting();
      clearTimeout(late);
      client.close();
      count('dropped', queue.drop());
    },
  };
}
