// Tests: test/smpp/live-settings.test.ts, test/smpp/failover.test.ts
import { lanes } from '../../messages/message-queue.ts';
import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Environment } from '../../platform/environment.ts';
import type { Log } from '../../platform/log.ts';
import { createPoller } from '../../platform/work/poller.ts';
import type { Woken } from '../../platform/work/wake-list.ts';
import { createCarrierOutcomes } from '../attempts/outcomes.ts';
import type { ClaimedText } from '../attempts/queued-text.ts';
import { canSend, readBinds, writeNodeBinds } from '../carrier/bind-store.ts';
import type { Carrier } from '../carrier/carrier.ts';
import { createClosedCarrier } from '../carrier/closed.ts';
import { codeWaitMs } from '../carrier/code-patience.ts';
import type { RunningCarrier } from '../carrier/running.ts';
import { createCarrierOutlook } from '../routing/outlook.ts';
import type { RouteTable } from '../routing/table.ts';
import { isOver } from '../setup/change.ts';
import { type ConfiguredCarrier, watchCarriers } from '../setup/watch.ts';
import { createTextMover } from './mover.ts';
import { createOrphanedQueues } from './orphaned-queues.ts';
import { type CarrierReport, createCarrierReport } from './report.ts';
import type { SubmissionOptions } from './submission.ts';
import type { DeliveryWorker } from './worker.ts';

export interface CarrierSetOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  /** Names this node in the states that operators see. */
  node: string;
  /** Carriers that are always there: the sandbox's. */
  fixed: Carrier[];
  environment: Environment;
  countryOf: (to: string) => string | undefined;
  /** `onBindsChange` is to be called when a connection has come or gone. */
  createCarrier: (configured: ConfiguredCarrier, onBindsChange: () => void) => RunningCarrier;
  createWorker: (carrier: Carrier, failover: WorkerFailover) => DeliveryWorker;
  /** Texts have moved to the queues of these carriers: the workers of other nodes should poll. */
  onMoved?: (carriers: readonly string[]) => void;
}

/** The functions by which a worker moves texts to other carriers. */
export type WorkerFailover = Pick<SubmissionOptions, 'nextCarrier' | 'outcomes' | 'isDown' | 'onMoved' | 'opensAtMs'>;

interface Running {
  configured: ConfiguredCarrier;
  carrier: RunningCarrier;
  worker: DeliveryWorker;
  report: CarrierReport;
}

const pollEveryMs = 1000;
/** After a change operators want to see soon whether the carrier binds. */
const soon = { everyMs: 100, forMs: 5000 };
/** If a connection is lost during a poll, the poll may have missed its codes: the next poll follows at once. */
const missedMs = 10;

/** All carriers of this node, each with a worker of its own. Carriers come, change and go while it runs. */
export function createCarrierSet(options: CarrierSetOptions) {
  const { database, clock, keys, log, node, fixed, createCarrier, createWorker, countryOf } = options;
  const running = new Map<number, Running>();
  let configured: ConfiguredCarrier[] = [];
  const outlook = createCarrierOutlook(options);
  /** Codes and texts of high priority ignore the hours of a route. */
  const opensAtMs = ({ message, entry }: ClaimedText) =>
    entry.lane === lanes.first ? null : outlook.opensAtMs(message);
  const fixedWorkers = fixed.map((carrier) => createWorker(carrier, { nextCarrier: () => undefined, opensAtMs }));
  const mover = createTextMover({ database, clock, outlook, throttled, onMoved });
  let changing: Promise<void> = Promise.resolve();
  const poller = createPoller({ run: poll, pauseMs: nextPollMs, onFailure: noteFailure });
  let quickUntilMs = 0;
  let hasMissed = false;
  const watch = watchCarriers({ database, clock, keys, log, onChange });

  const nextCarrier =
    (key: string) =>
    ({ message }: ClaimedText) =>
      outlook.next(message, key);

  const orphaned = createOrphanedQueues({
    database,
    clock,
    isKnown: (key) => [...fixed, ...configured].some((each) => each.key === key),
    createWorker: (key) => createWorker(createClosedCarrier(key), { nextCarrier: nextCarrier(key), onMoved }),
  });

  /** The texts wait in other queues now: no worker should find them only by polling. */
  function onMoved(carriers: readonly string[]): void {
    wake(carriers);
    options.onMoved?.(carriers);
  }

  function wake(carriers?: Woken): void {
    for (const worker of all()) if (carriers === undefined || carriers.includes(worker.key)) worker.wake();
  }

  function throttled(): string[] {
    return [...running.values()]
      .filter(({ carrier }) => (carrier.throttledMs?.() ?? 0) > codeWaitMs)
      .map(({ carrier }) => carrier.key);
  }

  function onChange(carriers: ConfiguredCarrier[], table: RouteTable): void {
    configured = carriers;
    outlook.setRoutes(carriers, table);
    pollSoon();
    // One change after another: the binds of the old settings are gone before those of the new ones come.
    changing = changing.then(() => follow(carriers)).catch((error: Error) => noteFailure(error));
  }

  async function follow(carriers: ConfiguredCarrier[]): Promise<void> {
    const wanted = new Map(carriers.map((each) => [each.id, each]));
    const over = [...running.values()].filter((each) => isOver(each.configured, wanted.get(each.configured.id)));
    await Promise.all(over.map(stopOne));
    for (const each of carriers) {
      const found = running.get(each.id);
      if (found === undefined) tryToStart(each);
      else {
        const { configured: before, carrier } = found;
        found.configured = each;
        carrier.setPaused(each.paused);
        if (each.version !== before.version) {
          carrier.update(each);
          log.info({ carrier: each.name, version: each.version }, 'new settings of a carrier were applied');
        }
        if (each.tryWantedAtMs !== before.tryWantedAtMs) carrier.tryNow();
      }
    }
    if (over.length > 0) orphaned.expect();
  }

  /** A carrier that fails to start does not keep others from starting. */
  function tryToStart(each: ConfiguredCarrier): void {
    try {
      startOne(each);
    } catch (error) {
      log.error({ carrier: each.name, reason: (error as Error).message }, 'a carrier could not be started');
    }
  }

  function startOne(each: ConfiguredCarrier): void {
    let usable = '';
    /** A carrier that is down tries again and again: only a connection that comes or goes makes a poll urgent. */
    const carrier = createCarrier(each, () => {
      const now = usableSlots(carrier);
      if (now !== usable) pollSoon();
      usable = now;
    });
    carrier.setPaused(each.paused);
    const outcomes = createCarrierOutcomes({ clock, countryOf, onChange: pollSoon });
    const isDown = () => !carrier.binds().some(canSend) || throttled().includes(carrier.key);
    const worker = createWorker(carrier, { nextCarrier: nextCarrier(each.key), outcomes, isDown, onMoved, opensAtMs });
    const about = { configured: each, carrier, outcomes };
    const report = createCarrierReport({ database, clock, log, node, ...about, onFailure: noteFailure });
    running.set(each.id, { configured: each, carrier, worker, report });
    worker.start();
    log.info({ carrier: each.name }, 'a carrier was started');
    pollSoon();
  }

  async function stopOne({ configured: { id, name }, worker, report }: Running): Promise<void> {
    running.delete(id);
    await worker.stop();
    await report.forget();
    log.info({ carrier: name }, 'a carrier was stopped');
  }

  /** Writes states and logs for operators, moves texts, and starts the tests that operators requested. */
  async function poll(): Promise<void> {
    hasMissed = false;
    await showStates();
    await moveOn();
    for (const { configured: each, report } of running.values()) {
      await report.showLog(each.logWantedAtMs);
      if (each.testWaiting) await report.takeTest();
    }
    await orphaned.poll();
  }

  /** One statement for all carriers. */
  async function showStates(): Promise<void> {
    const states = [...running.values()].flatMap(({ report }) => report.newState() ?? []);
    for (const { deleteLost } of states) await deleteLost();
    await writeNodeBinds(database, { node, carriers: states }, clock.nowMs());
    for (const { noteWritten } of states) noteWritten();
  }

  /** Moves texts off carriers that do not work. With a single carrier there is nothing to do. */
  async function moveOn(): Promise<void> {
    if (configured.length + orphaned.workers().length < 2 && outlook.table.routes.length === 0) return;
    const ids = configured.map(({ id }) => id);
    outlook.setBinds(await readBinds(database, ids, clock.nowMs()));
    await mover.poll();
  }

  function noteFailure({ message: reason }: Error): void {
    log.debug({ reason }, 'the state of the carriers could not be written; will retry');
  }

  function nextPollMs(): number {
    if (hasMissed) return missedMs;
    return clock.steadyMs() < quickUntilMs ? soon.everyMs : pollEveryMs;
  }

  function pollSoon(): void {
    quickUntilMs = clock.steadyMs() + soon.forMs;
    hasMissed = true;
    poller.hurry();
  }

  const all = () => [...fixedWorkers, ...[...running.values()].map(({ worker }) => worker), ...orphaned.workers()];

  return {
    async start(): Promise<void> {
      for (const worker of fixedWorkers) worker.start();
      await watch.start();
      poller.start(0);
    },
    async stop(): Promise<void> {
      await watch.stop();
      await poller.stop();
      await changing;
      const others = [...fixedWorkers, ...orphaned.workers()].map((worker) => worker.stop());
      await Promise.all([...others, ...[...running.values()].map(stopOne)]);
    },
    /** Wakes the workers of these carriers, or of all: they may have texts. */
    wake,
    /** The keys that may match a receipt's text; undefined if this node does not run the account. */
    receiptKeys: (account: string, carrierMessageId: string): string[] | undefined =>
      [...running.values()].find(({ carrier }) => carrier.account === account)?.carrier.receiptKeys(carrierMessageId),
    /** The workers that run now. */
    workers: all,
    /** The best working carrier that has not had the text yet. */
    nextCarrier: outlook.next,
    /** For texts that are accepted here, and not by a request. */
    ways: { list: outlook.list, table: () => outlook.table, areDownFor: () => false },
    /** Texts have moved to the queues of these carriers. */
    onMoved,
  };
}

/** The number of slots by which a carrier can send. */
function usableSlots(carrier: RunningCarrier): string {
  return carrier
    .binds()
    .flatMap((bind) => (canSend(bind) ? bind.slot : []))
    .join();
}
