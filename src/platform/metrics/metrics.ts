import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { MaintenanceCount } from '../work/maintenance.ts';
import { createCountedHistogram } from './counted-histogram.ts';
import { createRequestHistogram } from './request-histogram.ts';

export interface Metrics {
  registry: Registry;
  /** All metrics in the Prometheus text format. */
  text(): Promise<string>;
  /** Called once per answered request. Labels are bounded: routes are patterns, and statuses are few. */
  observeRequest(method: string, route: string, status: number, seconds: number): void;
  /** Counts texts by outcome: submitted, in_doubt, possible_duplicates, failed, expired. */
  countDelivery(event: string, by: number): void;
  countCarrier(carrier: string, event: string, by: number): void;
  /** Counts what carriers answered and reported about texts, by carrier and country. */
  countText(carrier: string, country: string, event: string, by: number): void;
  /** Adds counts of answers by the time they took: one for each bound, and one more for slower ones. */
  addAnswerTimes(carrier: string, counts: readonly number[], sumMs: number): void;
  /** Counts the rows that a maintenance chore changed, and its failures. */
  countMaintenance(chore: string, count: MaintenanceCount, by: number): void;
  /** Counts attempts to deliver events to webhooks, by outcome: delivered, refused, unanswered. */
  countWebhook(outcome: string, by: number): void;
  /** Counts leases of webhooks by the state that they entered. */
  countWebhookLease(state: string, by: number): void;
  /** Counts spans by outcome: exported, dropped, refused. */
  countSpans(outcome: string, by: number): void;
  /** Undelivered webhook events. */
  setWebhooksWaiting(waiting: { count: number; oldestAtMs: number | null }): void;
  /** Counts uncaught errors; each ends the process. */
  countUnexpectedError(kind: string): void;
  gauge(name: string, help: string, collect: () => number): void;
  /** Like `gauge`, for a family of gauges: each entry has the values of the labels, in order. */
  gauges(name: string, help: string, labels: string[], collect: () => { labels: string[]; value: number }[]): void;
  /** Exposes a counter that another part keeps; `collect` reads it. */
  counter(name: string, help: string, collect: () => number): void;
  /** Like `counter`, for a family of counters, by the value of one label. */
  counters(name: string, help: string, label: string, collect: () => Record<string, number>): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  /** Node's own metrics are collected from the first scrape on: they watch the event loop by a timer of 10 ms. */
  let collects = false;
  const requests = createRequestHistogram(
    'heliograph_http_request_seconds',
    'Time from the first byte of a request to the end of its answer',
  );
  const delivery = new Counter({
    name: 'heliograph_delivery_total',
    help: 'Texts by delivery event',
    labelNames: ['event'],
    registers: [registry],
  });
  const carriers = new Counter({
    name: 'heliograph_carrier_receipts_total',
    help: 'Receipts and inbound texts that carriers sent, by carrier and kind',
    labelNames: ['carrier', 'event'],
    registers: [registry],
  });
  const texts = new Counter({
    name: 'heliograph_texts_total',
    help: 'What carriers answered and reported about texts, by carrier and country',
    labelNames: ['carrier', 'country', 'event'],
    registers: [registry],
  });
  const answers = createCountedHistogram(
    'heliograph_answer_seconds',
    'Time from a submit to the answer of its carrier',
    'carrier',
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  );
  const unexpected = new Counter({
    name: 'heliograph_unexpected_errors_total',
    help: 'Unexpected errors; each one stops the process',
    labelNames: ['kind'],
    registers: [registry],
  });
  let spans: Counter | undefined;
  const webhooks = new Counter({
    name: 'heliograph_webhook_attempts_total',
    help: 'Attempts to deliver events to webhooks, by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const webhookLeases = new Counter({
    name: 'heliograph_webhook_leases_total',
    help: 'Leases of webhooks, by the state that they entered',
    labelNames: ['state'],
    registers: [registry],
  });
  let waiting: { count: number; oldestAtMs: number | null } = { count: 0, oldestAtMs: null };
  new Gauge({
    name: 'heliograph_webhooks_waiting',
    help: 'Deliveries to active webhooks that wait for another attempt, on all nodes',
    registers: [registry],
    collect() {
      this.set(waiting.count);
    },
  });
  new Gauge({
    name: 'heliograph_webhooks_oldest_seconds',
    help: 'Age of the oldest event that an active webhook has not received, on all nodes',
    registers: [registry],
    collect() {
      this.set(waiting.oldestAtMs === null ? 0 : Math.max(0, (Date.now() - waiting.oldestAtMs) / 1000));
    },
  });
  const maintenance = {
    rows: new Counter({
      name: 'heliograph_maintenance_rows_total',
      help: 'Rows that background maintenance deleted or changed',
      labelNames: ['chore'],
      registers: [registry],
    }),
    failures: new Counter({
      name: 'heliograph_maintenance_failures_total',
      help: 'Pieces of background maintenance that failed and will be retried',
      labelNames: ['chore'],
      registers: [registry],
    }),
  };

  return {
    registry,
    async text() {
      if (!collects) collectDefaultMetrics({ register: registry });
      collects = true;
      return `${await registry.metrics()}\n${requests.text()}${answers.text()}`;
    },
    observeRequest: requests.observe,
    countDelivery: (event, by) => delivery.inc({ event }, by),
    countCarrier: (carrier, event, by) => carriers.inc({ carrier, event }, by),
    countText: (carrier, country, event, by) => texts.inc({ carrier, country, event }, by),
    addAnswerTimes: (carrier, counts, sumMs) => answers.add(carrier, counts, sumMs / 1000),
    countMaintenance: (chore, count, by) => maintenance[count].inc({ chore }, by),
    countWebhook: (outcome, by) => webhooks.inc({ outcome }, by),
    countWebhookLease: (state, by) => webhookLeases.inc({ state }, by),
    countSpans(outcome, by) {
      // A service without traces shows no such metric.
      spans ??= new Counter({
        name: 'heliograph_spans_total',
        help: 'Spans of traces by what became of them',
        labelNames: ['outcome'],
        registers: [registry],
      });
      spans.inc({ outcome }, by);
    },
    setWebhooksWaiting: (given) => {
      waiting = given;
    },
    countUnexpectedError: (kind) => unexpected.inc({ kind }),
    gauge: (name, help, collect) => {
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(collect());
        },
      });
    },
    gauges: (name, help, labelNames, collect) => {
      new Gauge({
        name,
        help,
        labelNames,
        registers: [registry],
        collect() {
          this.reset();
          for (const { labels, value } of collect()) this.labels(...labels).set(value);
        },
      });
    },
    counter: (name, help, collect) => {
      new Counter({
        name,
        help,
        registers: [registry],
        collect() {
          this.reset();
          this.inc(collect());
        },
      });
    },
    counters: (name, help, label, collect) => {
      new Counter({
        name,
        help,
        labelNames: [label],
        registers: [registry],
        collect() {
          this.reset();
          for (const [value, count] of Object.entries(collect())) this.inc({ [label]: value }, count);
        },
      });
    },
  };
}
