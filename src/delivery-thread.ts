// The delivery thread. `main.ts` starts it in the roles `all` and `worker`, so that delivery never delays a response.

import { parentPort, workerData } from 'node:worker_threads';
import { createDelivery } from './compose/delivery.ts';
import { composeTracing } from './compose/tracing/tracer.ts';
import { loadPhoneNumbers } from './messages/numbers/phone-number.ts';
import { systemClock } from './platform/clock.ts';
import { type OpenedVersion, openKeyRing } from './platform/crypto/open-key-ring.ts';
import { watchClock } from './platform/database/clock-check.ts';
import { createDatabase, type DatabaseOptions } from './platform/database/database.ts';
import { createPrimaryOf } from './platform/database/primary/primary-of.ts';
import { createLog } from './platform/log.ts';
import { readVersion } from './platform/version.ts';
import { patiently } from './platform/work/patiently.ts';
import { createPoller } from './platform/work/poller.ts';
import type { Woken } from './platform/work/wake-list.ts';
import { nameOfCarrier } from './quality/alerts/alert.ts';
import { answerBounds, bucketOf } from './quality/answer-times.ts';
import type { Config } from './settings/settings.ts';
import { countedOutcome } from './webhooks/attempt.ts';
import type { Waiting } from './webhooks/waiting-store.ts';

export interface ThreadData {
  config: Config;
  connection: DatabaseOptions['connection'];
  /** Opens the key ring: the thread derives a verification's code when it sends the text. */
  secret: string;
  /** The versions that the main thread has opened. */
  opened: readonly OpenedVersion[];
  readable: boolean;
}

/** Messages to the thread. */
export type Order = Wake | 'stop';
/** Texts may be due with these carriers, or with any. */
export interface Wake {
  carriers: Woken;
}
/** Messages from the thread. */
export type Report =
  | {
      delivery: Tally;
      carriers: Record<string, Tally>;
      /** By the carrier's key and the country. */
      texts: Record<string, Record<string, Tally>>;
      /** By the carrier's key. */
      answers: Record<string, AnswerTimes>;
      maintenance: Record<string, Tally>;
      /** Attempts by outcome. */
      webhooks: Tally;
      /** Leases of webhooks, by the state that they entered. */
      webhookLeases: Tally;
      webhooksWaiting: Waiting;
      /** Spans by their outcome. */
      spans: Tally;
      /** The names of carriers, each with the state of its worker. A deleted carrier may have the name of a new one. */
      workers: [carrier: string, state: string][];
    }
  | 'started'
  | 'stopped';
/** How long a carrier's answers took, since the last report. */
export interface AnswerTimes {
  /** By the bounds of `answerBounds`. */
  counts: number[];
  sumMs: number;
}
/** Counts by name, since the last report. */
export type Tally = Record<string, number>;

async function run({ config, connection, secret, opened, readable }: ThreadData): Promise<void> {
  const log = createLog({ level: config.logLevel, readable });
  const primary = createPrimaryOf(connection, systemClock, log);
  const database = createDatabase({ connection, primary, log, poolSize: 6 });
  const webhookDatabase = createDatabase({ connection, primary, log, poolSize: 4 });
  await loadPhoneNumbers();
  const keys = await patiently(() => openKeyRing({ database, clock: systemClock, secret, opened }));
  const stopFollowing = keys.follow(log);
  let delivered: Tally = {};
  let ofCarriers: Record<string, Tally> = {};
  let texts: Record<string, Record<string, Tally>> = {};
  let answers: Record<string, AnswerTimes> = {};
  let maintained: Record<string, Tally> = {};
  let webhooks: Tally = {};
  let webhookLeases: Tally = {};
  let spans: Tally = {};
  let webhooksWaiting: Waiting = { count: 0, oldestAtMs: null };
  let isWaitingNew = false;
  let workers: [carrier: string, state: string][] = [];
  const clockWatch = watchClock(database, systemClock, log);
  const tracer = composeTracing({
    ...{ config, log, clock: systemClock, version: readVersion() },
    onCount: (name, by) => add(spans, name, by),
  });
  const delivery = createDelivery({
    config,
    tracer,
    database,
    clock: systemClock,
    isClockRight: clockWatch.isRight,
    keys,
    log,
    onCount: (name, by) => add(delivered, name, by),
    onCarrierCount(carrier, name, by) {
      const label = nameOfCarrier(carrier);
      ofCarriers[label] ??= {};
      add(ofCarriers[label], name, by);
    },
    onText(carrier, country, event) {
      texts[carrier] ??= {};
      texts[carrier][country] ??= {};
      add(texts[carrier][country], event, 1);
    },
    onAnswerTime(carrier, tookMs) {
      answers[carrier] ??= { counts: [...answerBounds, 0].map(() => 0), sumMs: 0 };
      const times = answers[carrier];
      const bucket = bucketOf(tookMs);
      times.counts[bucket] = (times.counts[bucket] ?? 0) + 1;
      times.sumMs += tookMs;
    },
    webhookDatabase,
    onWebhook: (attempted) => add(webhooks, countedOutcome(attempted), 1),
    onWebhookLease: (state) => add(webhookLeases, state, 1),
    onWebhooksWaiting(waiting) {
      isWaitingNew ||= waiting.count !== webhooksWaiting.count || waiting.oldestAtMs !== webhooksWaiting.oldestAtMs;
      webhooksWaiting = waiting;
    },
    onMaintenance(chore, count, by) {
      maintained[chore] ??= {};
      add(maintained[chore], count, by);
    },
  });
  const report = (message: Report) => parentPort?.postMessage(message);
  const reportCounts = () => {
    const counts = { delivery: delivered, carriers: ofCarriers, texts, answers, maintenance: maintained };
    report({ ...counts, webhooks, webhookLeases, webhooksWaiting, spans, workers });
    delivered = {};
    ofCarriers = {};
    texts = {};
    answers = {};
    maintained = {};
    webhooks = {};
    webhookLeases = {};
    spans = {};
    isWaitingNew = false;
  };
  const reports = createPoller({
    run() {
      const tallies = [delivered, ofCarriers, texts, maintained, webhooks, webhookLeases, spans];
      const before = JSON.stringify(workers);
      workers = delivery.workers().map(({ key, state }) => [nameOfCarrier(key), state]);
      const isNew = isWaitingNew || JSON.stringify(workers) !== before;
      if (isNew || tallies.some((tally) => Object.keys(tally).length > 0)) reportCounts();
    },
    pauseMs: 500,
  });
  reports.start();

  parentPort?.on('message', async (order: Order) => {
    if (order !== 'stop') return delivery.wake(order.carriers);
    await reports.stop();
    await delivery.stop();
    clockWatch.stop();
    await stopFollowing();
    await webhookDatabase.close();
    await database.close();
    await primary?.stop();
    reportCounts();
    report('stopped');
    parentPort?.close();
  });
  await delivery.start();
  report('started');
}

function add(tally: Tally, name: string, by: number): void {
  tally[name] = (tally[name] ?? 0) + by;
}

await run(workerData as ThreadData);
