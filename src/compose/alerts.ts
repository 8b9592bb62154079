import { canSend } from '../delivery/carrier/bind-store.ts';
import { nameOfCarrier } from '../quality/alerts/alert.ts';
import { type AlertWatch, createAlertWatch } from '../quality/alerts/watch.ts';
import type { Foundation } from './foundation.ts';

/** Builds the alert watch and its metrics. */
export function composeAlerts(foundation: Foundation): AlertWatch {
  const { config, clock, sideDatabase: database, keys, log, metrics } = foundation;
  const { publicUrl, alertUrl, environment } = config;
  const watch = createAlertWatch({ database, clock, keys, log, publicUrl, alertUrl, environment });
  const seconds = (ms: number) => Math.round(ms / 1000);
  const { nowMs } = clock;

  metrics.gauges('heliograph_alert', '1 while an alert with these labels is open', ['kind', 'carrier', 'country'], () =>
    watch.open.map(({ kind, carrier, country }) => ({ labels: [kind, carrier ?? '', country ?? ''], value: 1 })),
  );
  metrics.gauges(
    'heliograph_queue_oldest_seconds',
    'Age of the oldest text that may be sent',
    ['carrier', 'lane'],
    () =>
      (watch.facts?.queues ?? []).map(({ carrier, lane, oldestAtMs }) => ({
        labels: [nameOfCarrier(carrier), lane],
        value: Math.max(0, seconds(nowMs() - oldestAtMs)),
      })),
  );
  metrics.gauges('heliograph_unmatched_receipts', 'Receipts of the last hour that match no text', ['carrier'], () =>
    (watch.facts?.unmatched ?? []).map(({ carrier, count }) => ({ labels: [nameOfCarrier(carrier)], value: count })),
  );
  metrics.gauges('heliograph_carrier_up', '1 while some connection of the carrier can send', ['carrier'], () =>
    (watch.facts?.carriers ?? []).map(({ name, binds }) => ({ labels: [name], value: binds.some(canSend) ? 1 : 0 })),
  );
  metrics.gauges('heliograph_carrier_refused', '1 while the carrier refuses our account', ['carrier'], () =>
    (watch.facts?.carriers ?? []).map(({ name, binds }) => ({
      labels: [name],
      value: binds.some(({ refused }) => refused === true) ? 1 : 0,
    })),
  );
  metrics.gauges(
    'heliograph_certificate_seconds',
    'Time until the first certificate of a carrier ends',
    ['carrier'],
    () =>
      (watch.facts?.carriers ?? []).flatMap(({ name, binds, certificates }) => {
        const ends = [
          ...certificates.map(({ endsAtMs }) => endsAtMs),
          ...binds.map((bind) => bind.certificateEndsAtMs),
        ];
        const known = ends.filter((endsAtMs) => typeof endsAtMs === 'number');
        return known.length === 0 ? [] : [{ labels: [name], value: seconds(Math.min(...known) - nowMs()) }];
      }),
  );
  for (const column of ['codes', 'approved'] as const) {
    metrics.gauges(
      `heliograph_quality_${column}`,
      column === 'codes'
        ? 'Codes that only this carrier sent; when: lately (today, or today and yesterday) or before (the 14 days before)'
        : 'Codes of heliograph_quality_codes that were approved',
      ['carrier', 'country', 'when'],
      () =>
        (watch.facts?.codes ?? []).flatMap(({ carrier, country, lately, before }) => [
          { labels: [carrier, country, 'lately'], value: lately[column] },
          { labels: [carrier, country, 'before'], value: before[column] },
        ]),
    );
  }
  metrics.gauges(
    'heliograph_spend_applications',
    'Applications that have used this percentage of their segments of today',
    ['percent'],
    () =>
      [50, 80, 100].map((level) => ({
        labels: [String(level)],
        value: (watch.facts?.spend ?? []).filter(({ percent }) => percent >= level).length,
      })),
  );
  metrics.gauges(
    'heliograph_guard_holds',
    'Prefixes and countries of applications whose verifications are held back (acts) or only reported',
    ['country', 'acts'],
    () => countBy((watch.facts?.holds ?? []).map(({ country, acts }) => [country ?? '', String(acts)])),
  );
  return watch;
}

function countBy(all: string[][]): { labels: string[]; value: number }[] {
  const counts = new Map<string, { labels: string[]; value: number }>();
  for (const labels of all) {
    const id = labels.join('\n');
    counts.set(id, { labels, value: (counts.get(id)?.value ?? 0) + 1 });
  }
  return [...counts.values()];
}
