import type { TotalsReport } from '../../api/operator-types.ts';

const dayMs = 86_400_000;

/** The outcomes of messages by day, including days without messages. */
export function messagesByDay({ from, to, data }: Pick<TotalsReport, 'from' | 'to' | 'data'>) {
  const found = new Map(data.map((total) => [total.day, total]));
  const first = Date.parse(from);
  const days = Math.round((Date.parse(to) - first) / dayMs) + 1;
  return Array.from({ length: days }, (_, index) => {
    const day = new Date(first + index * dayMs).toISOString().slice(0, 10);
    const { sent = 0, delivered = 0, undelivered = 0, failed = 0 } = found.get(day) ?? {};
    return { day, delivered, unreported: Math.max(0, sent - delivered - undelivered), undelivered, failed };
  });
}
