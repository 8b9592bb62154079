import type { CallbackCarriers } from '../delivery/http/callback-carriers.ts';
import { type Callbacks, createCallbacks } from '../delivery/http/callbacks.ts';
import { createReceipts } from '../delivery/receipts.ts';
import { createTotals, type Totals } from '../quality/totals.ts';
import { createHandsets } from '../sandbox/handsets.ts';
import type { Foundation } from './foundation.ts';
import type { Inbound } from './inbound.ts';
import { learnOptOuts } from './learn-opt-outs.ts';
import { createShownTexts } from './shown-texts.ts';

/** Builds what web nodes do with receipts and inbound texts that come by HTTP. */
export function composeCallbacks(
  { config, clock, sideDatabase: database, log, metrics }: Foundation,
  { carriers, inbound }: { carriers: CallbackCarriers; inbound: Pick<Inbound, 'optOuts' | 'receiver'> },
): { callbacks: Callbacks; totals: Totals } {
  const isSandbox = config.environment === 'sandbox';
  const handsets = createHandsets(database, clock);
  const shown = isSandbox ? createShownTexts({ database, handsets, phonesKey: 'sandbox', log }) : undefined;
  const totals = createTotals({ database, clock, log });
  const receipts = createReceipts({
    database,
    clock,
    onCount: metrics.countCarrier,
    onUnwanted: learnOptOuts(inbound.optOuts, database, log).fromReceipts,
    onChanged: totals.noteReports,
    ...(shown && { onDelivered: shown.onDelivered }),
  });
  const callbacks = createCallbacks({
    database,
    clock,
    carriers,
    receipts,
    receiveInbound: async (source, texts) => void (await inbound.receiver.receive(source, texts)),
    onCount: metrics.countCarrier,
  });
  return { callbacks, totals };
}
