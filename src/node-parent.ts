import cluster, { type Worker } from 'node:cluster';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { createNodeWindows } from './edge/node-windows.ts';
import { keepWindows } from './edge/window-keeper.ts';
import { createStreamPlaces, keepPlaces } from './http/streams/stream-places.ts';
import { systemClock as clock, machineAheadMs } from './platform/clock.ts';
import type { DatabaseOptions } from './platform/database/database.ts';
import { StartError } from './platform/errors.ts';
import type { Log } from './platform/log.ts';
import { mergeMetrics } from './platform/metrics/merge-metrics.ts';
import type { Metrics } from './platform/metrics/metrics.ts';
import { type CallHandlers, createProcessCalls, type ProcessCalls } from './platform/processes/calls.ts';
import { createDeathWatch } from './platform/processes/death-watch.ts';
import type { Woken } from './platform/work/wake-list.ts';
import { type CallsToParent, type CallsToProcess, type WebProcessData, windowChannel } from './process-messages.ts';
import type { Config } from './settings/settings.ts';

export interface WebProcesses {
  /** The carriers that the web processes know. */
  carriers: string[];
  /** Waits `drainMs` for balancers to move on, then lets each process finish what is in flight. */
  stop(drainMs: number): Promise<void>;
}

export interface WebProcessesOptions {
  config: Config;
  connection: DatabaseOptions['connection'];
  secret: string;
  readable: boolean;
  log: Log;
  metrics: Metrics;
  windows: ReturnType<typeof createNodeWindows>;
  wakeDelivery: (carriers: Woken) => void;
  /** Called when web processes keep crashing. */
  onFatal: (error: Error) => void;
  file?: string;
}

interface WebProcess {
  /** The number of the process, from 1; 0 for the spare. */
  number: number;
  worker: Worker;
  calls: ProcessCalls;
  /** Resolves when it can be called; rejects if it ends before. */
  loaded: Promise<void>;
  isServing: boolean;
  /** The metrics of the process, as it last reported them. */
  metrics: string;
}

const answersWithinMs = 2000;
const stopsWithinMs = 20_000;

/**
 * Starts the processes that answer requests, keeps their windows, and replaces one that ends. Answers no request itself.
 * A spare process has loaded everything and waits, so that the next replacement answers within a second.
 */
export async function startWebProcesses(options: WebProcessesOptions): Promise<WebProcesses> {
  const { config, log, metrics, windows, onFatal } = options;
  const wanted = config.processes;
  const deaths = createDeathWatch(clock);
  const places = createStreamPlaces();
  const running = new Set<WebProcess>();
  const serving = () => [...running].filter(({ isServing }) => isServing);
  let spare: WebProcess | undefined;
  let started = false;
  let stopping = false;
  let replaced = 0;
  /** The metrics of processes that have ended. */
  let ended = '';
  metrics.gauge('heliograph_web_processes', 'Processes that answer requests', () => serving().length);
  metrics.counter('heliograph_web_processes_replaced_total', 'Processes that ended and were replaced', () => replaced);

  // All processes accept from one queue: a process that ends takes no waiting connection with it (decision 0027).
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({
    exec: options.file ?? fileURLToPath(new URL('./web-process.js', import.meta.url)),
    args: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
  });

  const shared: Pick<CallsToParent, 'wake' | 'metrics' | 'flush'> = {
    wake: (carriers) => options.wakeDelivery(carriers),
    async metrics() {
      const reports = serving().map(async (one) => {
        one.metrics = await one.calls.call<string>(
          'metrics' satisfies keyof CallsToProcess,
          undefined,
          answersWithinMs,
        );
        return one.metrics;
      });
      const texts = await Promise.all(reports.map((text) => text.catch(() => '')));
      return [await metrics.text(), ended, ...texts];
    },
    async flush() {
      const flushed = serving().map((one) =>
        one.calls.call('flush' satisfies keyof CallsToProcess, undefined, answersWithinMs),
      );
      await Promise.all(flushed.map((done) => done.catch(() => {})));
    },
  };

  function notifyCount(): void {
    const count = { wanted, serving: serving().length };
    for (const { calls } of running) calls.notify('processes' satisfies keyof CallsToProcess, count);
  }

  function fork(): WebProcess {
    const worker = cluster.fork();
    let [resolve, reject] = [() => {}, (_error: Error) => {}];
    const loaded = new Promise<void>((...settle) => {
      [resolve, reject] = settle;
    });
    // `onExit` reports its end.
    loaded.catch(() => {});
    const keeper = keepPlaces(places);
    const own: CallsToParent = {
      ...shared,
      loaded: () => resolve(),
      takePlace: keeper.take,
      leavePlace: keeper.leave,
    };
    const calls = createProcessCalls(
      (message) => worker.isConnected() && worker.send(message, () => {}),
      own as unknown as CallHandlers,
    );
    const one: WebProcess = { number: 0, worker, calls, loaded, isServing: false, metrics: '' };
    running.add(one);
    worker.on('message', calls.receive);
    worker.on('error', (error) => log.error({ err: error, process: one.number }, 'a web process cannot be reached'));
    worker.on('exit', (code, signal) => {
      reject(new Error('a web process ended before it had started'));
      keeper.end();
      onExit(one, code, signal);
    });
    keepWindowsOf(one);
    return one;
  }

  function keepWindowsOf(one: WebProcess): void {
    const channel = one.worker.process.stdio[windowChannel] as Duplex;
    const onBroken = (error: Error) => {
      log.error(
        { err: error, process: one.number },
        'a web process sent a frame that cannot be read; the process is replaced',
      );
      one.worker.process.kill('SIGKILL');
    };
    keepWindows(channel, { windows, machineAheadMs: machineAheadMs(), onBroken });
  }

  function keepSpare(): void {
    if (started && !stopping) spare ??= fork();
  }

  /** Resolves when the process answers requests. */
  async function launch(number: number): Promise<string[]> {
    const one = spare ?? fork();
    spare = undefined;
    one.number = number;
    await one.loaded;
    const { connection, secret, readable } = options;
    const data: WebProcessData = { number, config, connection, secret, readable };
    try {
      const { carriers } = await one.calls.call<{ carriers: string[] }>('begin' satisfies keyof CallsToProcess, data);
      one.isServing = true;
      log.info({ process: number, pid: one.worker.process.pid }, 'a web process answers requests');
      notifyCount();
      keepSpare();
      return carriers;
    } catch (error) {
      one.worker.process.kill('SIGKILL');
      throw error;
    }
  }

  function onExit(one: WebProcess, code: number | null, signal: string | null): void {
    running.delete(one);
    ended = mergeMetrics([ended, one.metrics], 'counts');
    one.calls.end();
    // The first start fails as a whole, with the reason of a process that did not start.
    if (stopping || (!started && !one.isServing)) return;
    log.error({ process: one.number, code, signal }, 'a web process ended; it is replaced');
    notifyCount();
    if (deaths.isOneTooMany()) {
      stopping = true;
      onFatal(new StartError(endsAgainAndAgain));
      return;
    }
    if (one === spare) {
      spare = undefined;
      keepSpare();
      return;
    }
    replaced++;
    launch(one.number).catch(({ message: reason }: Error) =>
      log.error({ process: one.number, reason }, 'a web process did not start'),
    );
  }

  async function stopOne(one: WebProcess, drainMs: number): Promise<void> {
    const { worker, calls, loaded } = one;
    const gone = new Promise((resolve) => worker.once('exit', resolve));
    const kill = () => worker.process.kill('SIGKILL');
    const late = setTimeout(kill, drainMs + stopsWithinMs);
    // The spare has nothing in flight.
    if (one === spare) kill();
    else loaded.then(() => calls.notify('stop' satisfies keyof CallsToProcess, { drainMs })).catch(() => {});
    await gone;
    clearTimeout(late);
  }

  async function stop(drainMs: number): Promise<void> {
    stopping = true;
    await Promise.all([...running].map((one) => stopOne(one, drainMs)));
  }

  try {
    const [carriers = []] = await Promise.all(Array.from({ length: wanted }, (_, index) => launch(index + 1)));
    started = true;
    keepSpare();
    return { carriers, stop };
  } catch (error) {
    await stop(0);
    throw new StartError((error as Error).message);
  }
}

const endsAgainAndAgain =
  'Web processes ended five times within 10 seconds, so the node stops. The lines above say why each of them ended.';
