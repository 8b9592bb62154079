import type { AnsweredText } from '../delivery/attempts/answered-text.ts';
import { furtherSegmentsOf } from '../delivery/attempts/further-segments.ts';
import { createTextSpans } from '../delivery/attempts/text-spans.ts';
import { isAllowedAddress } from '../delivery/carrier/address.ts';
import type { RunningCarrier } from '../delivery/carrier/running.ts';
import { createSenderPace } from '../delivery/carrier/sender-pace.ts';
import { createBindSlots } from '../delivery/carrier/slots.ts';
import { callbackUrls } from '../delivery/http/callbacks/token.ts';
import { createHttpCarrier } from '../delivery/http/carrier.ts';
import { createCarrierReads } from '../delivery/queue/carrier-reads.ts';
import { createQueueVacuum } from '../delivery/queue/vacuum.ts';
import { createReceiptSpans } from '../delivery/receipts/receipt-spans.ts';
import { createReceipts, type ReceiptCount } from '../delivery/receipts/receipts.ts';
import { takeUnmatched } from '../delivery/receipts/unmatched-store.ts';
import { createSandboxCarrier } from '../delivery/sandbox/carrier.ts';
import type { ConfiguredCarrier } from '../delivery/setup/watch.ts';
import { createSmppCarrier } from '../delivery/smpp/carrier.ts';
import type { DeliveredCount } from '../delivery/smpp/receipt-inbox.ts';
import { createCarrierSet } from '../delivery/worker/carriers.ts';
import type { DeliveryCount } from '../delivery/worker/submission.ts';
import { createDeliveryWorker, type DeliveryWorker } from '../delivery/worker/worker.ts';
import { routedCountryOf } from '../messages/numbers/phone-number.ts';
import { addSpend } from '../messages/spend-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database } from '../platform/database/database.ts';
import { type Listener, openListener } from '../platform/database/listener.ts';
import { createNotifier, namesIn } from '../platform/database/notifier.ts';
import { newId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { Tracer } from '../platform/tracing/tracer.ts';
import { createMaintenance, type Maintenance, type MaintenanceCount } from '../platform/work/maintenance.ts';
import { createPoller } from '../platform/work/poller.ts';
import type { Woken } from '../platform/work/wake-list.ts';
import { createTotals, type Totals, type TotalsOptions } from '../quality/totals.ts';
import { listRates } from '../registry/sender-store.ts';
import { createHandsets } from '../sandbox/handsets.ts';
import type { Config } from '../settings/settings.ts';
import { findPending } from '../verify/pending-store.ts';
import { createChores } from './chores/chores.ts';
import { createInbound } from './inbound.ts';
import { learnOptOuts } from './learn-opt-outs.ts';
import { createShownTexts } from './shown-texts.ts';
import { createCallbackWork } from './twilio/callback-work.ts';
import { createFallbackWork } from './verify/fallback.ts';
import { createCodeWays, createTextRenderer } from './verify/text-renderer.ts';
import { createWebhookWork, type WebhookWork } from './webhooks.ts';

export interface Delivery {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Texts may be due with these carriers, or with any. */
  wake(carriers?: Woken): void;
  /** The workers of all carriers that run now. */
  workers(): DeliveryWorker[];
  maintenance: Maintenance;
  totals: Totals;
}

/** Postgres NOTIFY channel: `web` nodes notify the nodes that deliver. */
export const deliveryChannel = 'heliograph_delivery';

/** How long a plain text in doubt waits for a late answer or a receipt. */
const onDoubtMs = 300_000;
/** How often receipts without a text are polled. */
const rematchEveryMs = { working: 1000, resting: 2000 };

/** Builds all background work, for the delivery thread or a test. */
export function createDelivery(options: {
  config: Config;
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  onCount: (name: DeliveryCount, by: number) => void;
  onCarrierCount: (carrier: string, name: ReceiptCount | DeliveredCount, by: number) => void;
  onMaintenance: (chore: string, count: MaintenanceCount, by: number) => void;
  /** Connections for webhooks, so that they take none from texts. */
  webhookDatabase?: Database;
  onWebhook?: WebhookWork['onAttempt'];
  onWebhookLease?: WebhookWork['onLease'];
  onWebhooksWaiting?: WebhookWork['onWaiting'];
  onText?: TotalsOptions['onEvent'];
  onAnswerTime?: TotalsOptions['onAnswerTime'];
  /** Ends the spans of texts; it stops with the delivery. */
  tracer?: Tracer | undefined;
  /** False while this node's clock is wrong: then it takes no text and does no upkeep. */
  isClockRight?: () => boolean;
}): Delivery {
  const { config, database, clock, keys, log, onCount, onCarrierCount, onMaintenance, tracer } = options;
  const spans = tracer && createTextSpans(tracer, clock);
  const isSandbox = config.environment === 'sandbox';
  const atMostOnce = config.delivery === 'at_most_once';
  const handsets = createHandsets(database, clock);
  const phones = isSandbox ? createSandboxCarrier(handsets, log) : undefined;
  const shown = phones && createShownTexts({ database, handsets, phonesKey: phones.key, log });
  const totals = createTotals({
    database,
    clock,
    log,
    ...(options.onText && { onEvent: options.onText }),
    ...(options.onAnswerTime && { onAnswerTime: options.onAnswerTime }),
  });
  const inbound = createInbound({ config, database, clock, keys, wake: (keys) => carriers.wake(keys) });
  const learn = learnOptOuts(inbound.optOuts, database, log);
  const receipts = createReceipts({
    database,
    clock,
    log,
    onCount: onCarrierCount,
    onUnwanted: learn.fromReceipts,
    onChanged(...changed) {
      totals.noteReports(...changed);
      webhooks.wake();
      callbacks.wake();
    },
    onTraced: tracer && createReceiptSpans(tracer, clock),
    keysOf: (account, id) => carriers.receiptKeys(account, id),
    resend: {
      findPending: (tx, ids) => findPending(tx, ids, clock.nowMs()),
      nextCarrier: (text, from) => carriers.nextCarrier(text, from),
      onMoved: (keys) => carriers.onMoved(keys),
    },
    ...(shown && { onDelivered: shown.onDelivered }),
  });
  const webhooks = createWebhookWork({
    config,
    database: options.webhookDatabase ?? database,
    clock,
    keys,
    log,
    onAttempt: options.onWebhook,
    onLease: options.onWebhookLease,
    onWaiting: options.onWebhooksWaiting,
    tracer,
  });
  const callbacks = createCallbackWork({
    ...{ config, clock, keys, log, tracer },
    database: options.webhookDatabase ?? database,
  });
  const fallback = createFallbackWork({
    ...{ config, database, clock, keys, log },
    ways: () => carriers.ways,
    onSent: (keys) => carriers.onMoved(keys),
    isClockRight: options.isClockRight,
  });
  const reads = createCarrierReads(database);
  const vacuum = createQueueVacuum({ database, clock, log });
  const slots = createBindSlots({ database, clock, log });
  const senders = createSenderPace({ database, clock, log, readRates: () => listRates(database) });
  const otherNodes = config.redisUrl === undefined ? undefined : createNotifier({ database, channel: deliveryChannel });
  const carriers = createCarrierSet({
    database,
    clock,
    keys,
    log,
    node: newId('nod', clock),
    fixed: phones === undefined ? [] : [phones],
    environment: config.environment,
    countryOf: routedCountryOf,
    onMoved: (keys) => otherNodes?.notify(keys),
    createCarrier,
    createWorker: (carrier, failover) =>
      createDeliveryWorker({
        database,
        clock,
        log,
        carrier: senders.pace(carrier),
        receipts,
        reads,
        renderText: createTextRenderer(keys, config.environment),
        wayOf: createCodeWays(keys, config.environment),
        receiveInbound: inbound.receiver.receive,
        findPending: (ids) => findPending(database, ids, clock.nowMs()),
        findUnwanted: (texts) => inbound.optOuts.find(database, texts),
        ...failover,
        isClockRight: options.isClockRight,
        alone: config.redisUrl === undefined,
        atMostOnce,
        onCount,
        onClaimed: vacuum.noteTaken,
        onEnds: totals.noteEnds,
        spans,
        onAnswers(key, answers) {
          totals.noteAnswers(key, answers);
          spans?.noteAnswers(key, answers);
          webhooks.wake();
          callbacks.wake();
          learn.fromAnswers(answers);
          if (!isSandbox) countFurther(answers);
        },
      }),
  });

  /** Counts repeated and additional parts for the applications with a daily limit. */
  function countFurther(answers: readonly AnsweredText[]): void {
    addSpend(database, furtherSegmentsOf(answers), clock.nowMs()).catch(({ message: reason }: Error) =>
      log.warn({ reason }, 'the segments of copies and further parts could not be counted'),
    );
  }

  function createCarrier(configured: ConfiguredCarrier, onBindsChange: () => void): RunningCarrier {
    const byDefault = { resend: !atMostOnce, afterMs: isSandbox ? 0 : onDoubtMs };
    const shared = { slots, clock, byDefault, onBindsChange, onUnreported: shown?.whenSent() };
    if (configured.kind === 'http') {
      const { name, callbackToken } = configured;
      return createHttpCarrier({
        ...shared,
        configured,
        urls: callbackUrls(config.publicUrl, name, callbackToken ?? ''),
        environment: config.environment,
        findReceipt: (account, id) => takeUnmatched(database, account, id),
      });
    }
    return createSmppCarrier({
      ...shared,
      configured,
      isAllowedAddress: isAllowedAddress(config.environment),
      onCount: (name) => onCarrierCount(configured.key, name, 1),
    });
  }

  const chores = createChores({
    config,
    database,
    clock,
    keys,
    log,
    onExpired: onCount,
    noteEnds: totals.noteEnds,
    deliverIncomplete: inbound.receiver.deliverIncomplete,
  });
  const maintenance = createMaintenance({
    chores,
    clock,
    log,
    onCount: onMaintenance,
    ...(options.isClockRight && { mayRun: options.isClockRight }),
  });
  let stopped = false;
  /** Receipts that came before their texts were known as sent. */
  const rematching = createPoller({
    async run() {
      while (!stopped && (await receipts.rematch()) > 0);
    },
    pauseMs: () =>
      carriers.workers().every(({ state }) => state === 'resting') ? rematchEveryMs.resting : rematchEveryMs.working,
  });
  let listener: Listener | undefined;

  return {
    workers: carriers.workers,
    maintenance,
    totals,
    async start() {
      totals.start();
      await senders.start();
      await carriers.start();
      if (config.redisUrl !== undefined) {
        const onNotified = (payload: string) => carriers.wake(namesIn(payload));
        listener = await openListener({ database, channel: deliveryChannel, onNotified });
      }
      rematching.start();
      maintenance.start();
      await webhooks.start();
      callbacks.start();
      fallback.start();
    },
    async stop() {
      await fallback.stop();
      await callbacks.stop();
      await webhooks.stop();
      await maintenance.stop();
      stopped = true;
      await rematching.stop();
      await listener?.stop();
      await carriers.stop();
      senders.stop();
      await slots.stop();
      await vacuum.stop();
      await totals.stop();
      await tracer?.stop();
    },
    wake(keys) {
      carriers.wake(keys);
      webhooks.wake();
    },
  };
}
