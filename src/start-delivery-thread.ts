import { Worker } from 'node:worker_threads';
import type { Order, Report, ThreadData } from './delivery-thread.ts';
import type { Log } from './platform/log.ts';
import type { Metrics } from './platform/metrics/metrics.ts';
import type { MaintenanceCount } from './platform/work/maintenance.ts';
import { oncePerTurn, type Woken } from './platform/work/wake-list.ts';
import { nameOfCarrier } from './quality/alerts/alert.ts';

export interface DeliveryThread {
  /** Rejects when the thread ends before it has started. */
  started: Promise<void>;
  /** Texts may be due with these carriers, or with any. */
  wake(carriers?: Woken): void;
  stop(): Promise<void>;
}

const stopWithinMs = 10_000;

export function startDeliveryThread(
  data: ThreadData,
  log: Log,
  metrics: Pick<
    Metrics,
    | 'countDelivery'
    | 'countCarrier'
    | 'countText'
    | 'addAnswerTimes'
    | 'countMaintenance'
    | 'countWebhook'
    | 'countWebhookLease'
    | 'setWebhooksWaiting'
    | 'countSpans'
    | 'gauges'
  >,
  { file = new URL('./delivery-thread.js', import.meta.url), restartAfterMs = 1000 } = {},
): DeliveryThread {
  const { countDelivery, countCarrier, countText, addAnswerTimes, countMaintenance, countWebhook } = metrics;
  let thread: Worker | undefined;
  let restart: NodeJS.Timeout | undefined;
  let workers: [carrier: string, state: string][] = [];
  metrics.gauges(
    'heliograph_delivery_worker_state',
    '1 for the state that the delivery worker of a carrier is in, on this node',
    ['carrier', 'state'],
    () => workers.map((labels) => ({ labels, value: 1 })),
  );
  const wake = oncePerTurn((carriers) => thread?.postMessage({ carriers } satisfies Order));

  function count({ delivery, carriers, texts, answers, maintenance, ...rest }: Exclude<Report, string>): void {
    for (const [outcome, by] of Object.entries(rest.webhooks)) countWebhook(outcome, by);
    for (const [state, by] of Object.entries(rest.webhookLeases)) metrics.countWebhookLease(state, by);
    metrics.setWebhooksWaiting(rest.webhooksWaiting);
    for (const [outcome, by] of Object.entries(rest.spans)) metrics.countSpans(outcome, by);
    workers = rest.workers;
    for (const [event, by] of Object.entries(delivery)) countDelivery(event, by);
    for (const [carrier, counts] of Object.entries(carriers)) {
      for (const [event, by] of Object.entries(counts)) countCarrier(carrier, event, by);
    }
    for (const [carrier, countries] of Object.entries(texts)) {
      for (const [country, counts] of Object.entries(countries)) {
        for (const [event, by] of Object.entries(counts)) countText(nameOfCarrier(carrier), country, event, by);
      }
    }
    for (const [carrier, { counts, sumMs }] of Object.entries(answers)) {
      addAnswerTimes(nameOfCarrier(carrier), counts, sumMs);
    }
    for (const [chore, counts] of Object.entries(maintenance)) {
      for (const [name, by] of Object.entries(counts)) countMaintenance(chore, name as MaintenanceCount, by);
    }
  }

  /** Resolves when the thread has started; rejects when it ends before that. */
  function launch(): Promise<void> {
    return new Promise((resolve, reject) => {
      const launched = new Worker(file, { workerData: data });
      thread = launched;
      launched.on('message', (report: Report) => {
        if (report === 'started') resolve();
        else if (report !== 'stopped') count(report);
      });
      launched.on('error', (error) => {
        log.error({ err: error }, 'the delivery thread failed');
        reject(error);
      });
      launched.on('exit', () => {
        thread = undefined;
        workers = [];
        reject(new Error('the delivery thread ended before it had started'));
      });
    });
  }

  /** Restarts a thread that dies. The new thread picks up the old one's texts when their leases expire. */
  function keepRunning(): void {
    thread?.once('exit', () => {
      restart = setTimeout(() => {
        launch().catch(() => {});
        keepRunning();
      }, restartAfterMs);
    });
  }
  const started = launch();
  started.then(keepRunning, () => {});

  return {
    started,
    wake,
    async stop() {
      const running = thread;
      if (running !== undefined) {
        const gone = new Promise((resolve) => running.once('exit', resolve));
        running.postMessage('stop' satisfies Order);
        const late = setTimeout(() => void running.terminate(), stopWithinMs);
        await gone;
        clearTimeout(late);
      }
      clearTimeout(restart);
    },
  };
}
