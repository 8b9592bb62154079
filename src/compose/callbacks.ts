import { type Callbacks, createCallbacks } from '../delivery/http/callbacks/callbacks.ts';
import type { CallbackCarriers } from '../delivery/http/callbacks/carriers.ts';
import type { CodeResendOptions } from '../delivery/receipts/code-resends.ts';
import { createReceiptSpans } from '../delivery/receipts/receipt-spans.ts';
import { createReceipts } from '../delivery/receipts/receipts.ts';
import type { Totals } from '../quality/totals.ts';
import { createHandsets } from '../sandbox/handsets.ts';
import type { Foundation } from './foundation.ts';
import type { Inbound } from './inbound.ts';
import { learnOptOuts } from './learn-opt-outs.ts';
import { createShownTexts } from './shown-texts.ts';

export interface CallbackParts {
  inbound: Pick<Inbound, 'optOuts' | 'receiver'>;
  totals: Totals;
  resend: CodeResendOptions;
}

/** Builds the handling of receipts and inbound texts that come by HTTP, on web nodes. */
export function composeCallbacks(
  { config, clock, sideDatabase: database, log, metrics, tracer }: Foundation,
  carriers: CallbackCarriers,
  { inbound, totals, resend }: CallbackParts,
): Callbacks {
  const isSandbox = config.environment === 'sandbox';
  const handsets = createHandsets(database, clock);
  const shown = isSandbox ? createShownTexts({ database, handsets, phonesKey: 'sandbox', log }) : undefined;
  const receipts = createReceipts({
    database,
    clock,
    log,
    onCount: metrics.countCarrier,
    onUnwanted: learnOptOuts(inbound.optOuts, database, log).fromReceipts,
    onChanged: totals.noteReports,
    onTraced: tracer && createReceiptSpans(tracer, clock),
    resend,
    ...(shown && { onDelivered: shown.onDelivered }),
  });
  return createCallbacks({
    database,
    clock,
    carriers,
    receipts,
    receiveInbound: async (source, texts) => void (await inbound.receiver.receive(source, texts)),
    onCount: metrics.countCarrier,
  });
}
