// A web process: one of those that answer the requests of a node. `node-parent.ts` starts it and keeps its windows.
import { Socket } from 'node:net';
import { type App, createApp } from './app.ts';
import { openPools } from './boot.ts';
import { deliveryChannel } from './compose/delivery.ts';
import { createParentWindows } from './edge/parent-windows.ts';
import type { ProcessCount } from './http/operations-api.ts';
import { createParentPlaces } from './http/streams/stream-places.ts';
import { startSigningThread } from './identity/start-signing-thread.ts';
import { systemClock as clock, machineAheadMs } from './platform/clock.ts';
import { openKeyRing } from './platform/crypto/open-key-ring.ts';
import { watchClock } from './platform/database/clock-check.ts';
import { createNotifier } from './platform/database/notifier.ts';
import { webPools } from './platform/database/pool-sizes.ts';
import { createPrimaryOf } from './platform/database/primary/primary-of.ts';
import { createLog, type Log } from './platform/log.ts';
import { mergeMetrics } from './platform/metrics/merge-metrics.ts';
import { createProcessCalls } from './platform/processes/calls.ts';
import { readVersion } from './platform/version.ts';
import { patiently } from './platform/work/patiently.ts';
import { oncePerTurn } from './platform/work/wake-list.ts';
import { type CallsToProcess, type WebProcessData, windowChannel } from './process-messages.ts';

const crashWithinMs = 15_000;
const channel = new Socket({ fd: windowChannel, readable: true, writable: true });
/** Does nothing before the app is there. */
let stop = async (_drainMs: number): Promise<void> => {};
let app: App | undefined;
let count: ProcessCount = { wanted: 0, serving: 0 };

const handlers: { [Name in keyof CallsToProcess]: CallsToProcess[Name] } = {
  begin,
  processes(now) {
    count = now;
  },
  metrics: async () => app?.metrics.text() ?? '',
  flush: async () => app?.metering.flush(),
  stop: ({ drainMs }) => stop(drainMs).finally(() => process.exit(0)),
};
const parent = createProcessCalls(
  (message) => process.connected && process.send?.(message, undefined, undefined, () => {}),
  handlers,
);

async function begin({
  number,
  config,
  connection,
  secret,
  readable,
}: WebProcessData): Promise<{ carriers: string[] }> {
  const log = createLog({ level: config.logLevel, readable, process: number });
  stopAfterUnexpectedErrors(log);
  const primary = createPrimaryOf(connection, clock, log);
  const { database, sideDatabase } = openPools({ connection, primary, log }, webPools(config.processes));
  const keys = await patiently(() => openKeyRing({ database, clock, secret }));
  const stopFollowing = keys.follow(log);
  const signing = startSigningThread(log);
  const workers = createNotifier({ database, channel: deliveryChannel });
  const { windows, isAnswering } = createParentWindows(channel, { clock, machineAheadMs: machineAheadMs() });
  const clockWatch = watchClock(database, clock, log);
  const made = createApp({
    config,
    clock,
    clockWatch,
    database,
    sideDatabase,
    keys,
    log,
    version: readVersion(),
    sign: signing.sign,
    wakeDelivery: config.role === 'web' ? workers.notify : oncePerTurn((carriers) => parent.notify('wake', carriers)),
    windows,
    node: {
      isAnswering,
      processes: () => count,
      places: createParentPlaces(parent),
      readMetrics: async () => mergeMetrics(await parent.call<string[]>('metrics')),
      flushMetering: () => parent.call('flush'),
    },
  });
  app = made;
  stop = async (drainMs) => {
    if (drainMs > 0) await made.drain(drainMs);
    await made.stop();
    clockWatch.stop();
    await signing.stop();
    await stopFollowing();
    await Promise.all([database.close(), sideDatabase.close()]);
    await primary?.stop();
  };
  await made.start();
  return { carriers: made.carriers().map(({ name }) => name) };
}

/** After an unexpected error the process cannot trust its memory: it finishes what is in flight, and is replaced. */
function stopAfterUnexpectedErrors(log: Log): void {
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(kind, (error: unknown) => {
      log.fatal({ err: error, kind }, 'unexpected error: this process stops');
      app?.metrics.countUnexpectedError(kind);
      setTimeout(() => process.exit(1), crashWithinMs).unref();
      void stop(0)
        .catch(() => {})
        .then(() => process.exit(1));
    });
  }
}

// Ctrl-C reaches every process of the group. The parent decides when this one leaves.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});
// Without the parent no limit can be decided. What is in flight is lost, as with a lone node that is killed.
for (const event of ['close', 'error'] as const) channel.on(event, () => process.exit(1));
process.on('disconnect', () => process.exit(1));
process.on('message', parent.receive);
parent.notify('loaded');
