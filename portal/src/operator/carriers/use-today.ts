import { operatorPath, withQuery } from '../../api/call.ts';
import type { Total, TotalsReport } from '../../api/operator-types.ts';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/carriers.ts';

const refreshMs = 10_000;

/** Today's counts (UTC) by carrier name. Nodes write their counts every 5 seconds. */
export function useToday(): Map<string, Total> {
  const today = new Date().toISOString().slice(0, 10);
  const path = withQuery(operatorPath('totals'), { from: today, to: today, by: 'carrier' });
  const { data } = useLoad<TotalsReport>(path, refreshMs);
  return new Map(data?.data.map((total) => [total.carrier ?? '', total]));
}

const count = new Intl.NumberFormat();

/** The day's counts as facts. */
export function todayFacts(total: Total | undefined): [name: string, value: string][] {
  const {
    sent = 0,
    delivered = 0,
    undelivered = 0,
    failed = 0,
    expired = 0,
    refused = 0,
    unavailable = 0,
    throttled = 0,
    in_doubt = 0,
  } = total ?? {};
  return [
    [words.today.sent, count.format(sent)],
    [words.today.delivered, count.format(delivered)],
    [words.today.failed, count.format(failed + undelivered + expired)],
    [words.today.refused, count.format(refused + unavailable)],
    [words.today.throttled, `${count.format(throttled)} · ${count.format(in_doubt)}`],
  ];
}
