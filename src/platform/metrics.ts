import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { MaintenanceCount } from './maintenance.ts';
import { createRequestHistogram } from './request-histogram.ts';

export interface Metrics {
  registry: Registry;
  /** All of it, in the text exposition format. */
  text(): Promise<string>;
  /** One observation per answered request. Routes are patterns and there are few statuses: the label set is bounded. */
  observeRequest(method: string, route: string, status: number, seconds: number): void;
  /** Texts by what became of them: submitted, in_doubt, possible_duplicates, failed, expired. */
  countDelivery(event: string, by: number): void;
  /** Rows that a chore of the background maintenance touched, and its failures. */
  countMaintenance(chore: string, count: MaintenanceCount, by: number): void;
  /** Errors that no code expected; each ends the process. */
  countUnexpectedError(kind: string): void;
  gauge(name: string, help: string, collect: () => number): void;
  /** A number that somebody else keeps and that only rises. */
  counter(name: string, help: string, collect: () => number): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = createRequestHistogram(
    'heliograph_http_request_seconds',
    'Time from the first byte of a request to the end of its answer',
  );
  const delivery = new Counter({
    name: 'heliograph_delivery_total',
    help: 'Texts by what became of them',
    labelNames: ['event'],
    registers: [registry],
  });
  const unexpected = new Counter({
    name: 'heliograph_unexpected_errors_total',
    help: 'Errors that no code expected; each ends the process',
    labelNames: ['kind'],
    registers: [registry],
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
      help: 'Pieces of background maintenance that failed and are tried again',
      labelNames: ['chore'],
      registers: [registry],
    }),
  };

  return {
    registry,
    text: async () => `${await registry.metrics()}\n${requests.text()}`,
    observeRequest: requests.observe,
    countDelivery: (event, by) => delivery.inc({ event }, by),
    countMaintenance: (chore, count, by) => maintenance[count].inc({ chore }, by),
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
  };
}
