import { Worker } from 'node:worker_threads';
import type { Order, Report, ThreadData } from './delivery-thread.ts';
import type { Log } from './platform/log.ts';

/** The delivery thread as the rest of the process sees it. */
export interface DeliveryThread {
  wake(): void;
  stop(): Promise<void>;
}

const restartAfterMs = 1000;

export async function startDeliveryThread(
  data: ThreadData,
  log: Log,
  onCount: (name: string, by: number) => void,
): Promise<DeliveryThread> {
  let thread: Worker | undefined;
  let stopping = false;
  let waking = false;

  /** Resolves when the thread works. One that dies is started again: what it held is found by its leases. */
  function launch(): Promise<void> {
    return new Promise((resolve, reject) => {
      const started = new Worker(new URL('./delivery-thread.js', import.meta.url), { workerData: data });
      thread = started;
      started.on('message', (report: Report) => {
        if (report === 'started') resolve();
        else if (report !== 'stopped') for (const [name, by] of Object.entries(report.counted)) onCount(name, by);
      });
      started.on('error', (error) => {
        log.error({ err: error }, 'the delivery thread failed');
        reject(error);
      });
      started.on('exit', () => {
        thread = undefined;
        if (!stopping) setTimeout(() => void launch().catch(() => {}), restartAfterMs);
      });
    });
  }
  await launch();

  return {
    wake() {
      // Commits of the same turn wake it once.
      if (waking) return;
      waking = true;
      setImmediate(() => {
        waking = false;
        thread?.postMessage('wake' satisfies Order);
      });
    },
    async stop() {
      stopping = true;
      const running = thread;
      if (running === undefined) return;
      const gone = new Promise((resolve) => running.once('exit', resolve));
      running.postMessage('stop' satisfies Order);
      const late = setTimeout(() => void running.terminate(), 10_000);
      await gone;
      clearTimeout(late);
    },
  };
}
