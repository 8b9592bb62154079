import { createInboundRetention } from '../../inbound/inbound-retention.ts';
import { deleteOldReplies } from '../../inbound/reply-store.ts';
import { dayMs, hourMs, minuteMs } from '../../platform/clock.ts';
import type { Chore } from '../../platform/work/maintenance.ts';
import type { ChoreKit, ChoreOptions } from './kit.ts';

/** Chores for texts from phones, for opt-outs, and for the events about them. */
export function inboundChores(options: ChoreOptions, { every }: ChoreKit): Chore[] {
  const { config, database, clock, keys, deliverIncomplete } = options;
  const inbound = createInboundRetention({ database, clock, keys, ...config });
  return [
    { name: 'incomplete-inbound', everyMs: minuteMs, runPiece: deliverIncomplete },
    { name: 'mask-inbound', everyMs: hourMs, runPiece: inbound.maskTexts },
    { name: 'mask-opt-outs', everyMs: hourMs, runPiece: inbound.maskOptOuts },
    { name: 'mask-events', everyMs: hourMs, runPiece: inbound.maskEvents },
    { name: 'old-inbound', everyMs: hourMs, runPiece: inbound.deleteTexts },
    { name: 'old-inbound-repeats', everyMs: 10 * minuteMs, runPiece: inbound.deleteSeen },
    every(hourMs, 'old-automatic-replies', (tx, nowMs) => deleteOldReplies(tx, nowMs - 2 * dayMs)),
  ];
}
