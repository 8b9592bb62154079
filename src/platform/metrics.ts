import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  registry: Registry;
  /** One observation per answered request. Routes are patterns and there are few statuses: the label set is bounded. */
  observeRequest(method: string, route: string, status: number, seconds: number): void;
  /** Texts by what became of them: submitted, in_doubt, possible_duplicates, failed, expired. */
  countDelivery(event: string, by: number): void;
  gauge(name: string, help: string, collect: () => number): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'heliograph_http_request_seconds',
    help: 'Time from the first byte of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  // Looking a child up by its labels hashes them each time; this map makes it one lookup.
  const children = new Map<string, Histogram.Internal<'method' | 'route' | 'status'>>();

  const delivery = new Counter({
    name: 'heliograph_delivery_total',
    help: 'Texts by what became of them',
    labelNames: ['event'],
    registers: [registry],
  });

  return {
    registry,
    observeRequest(method, route, status, seconds) {
      const name = `${method} ${route} ${status}`;
      let child = children.get(name);
      if (child === undefined) {
        child = duration.labels(method, route, String(status));
        children.set(name, child);
      }
      child.observe(seconds);
    },
    countDelivery: (event, by) => delivery.inc({ event }, by),
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
  };
}
