// Tests: test/smpp/carrier.test.ts, test/smpp/database-away.test.ts
import { createSharedWrites } from '../../platform/work/shared-writes.ts';
import type { Delivery } from '../../smpp/deliveries.ts';
import { statuses, type Tlv } from '../../smpp/pdu.ts';
import { type ParsedReceipt, readDelivered } from '../../smpp/receipt.ts';
import { receiptErrorOf } from '../../smpp/receipt-errors.ts';
import type { InboundText, Receipt, ReceiveInbound, ReceiveReceipts } from '../carrier/carrier.ts';
import { describeForms, receiptKeysOf, wouldFit } from '../carrier/receipt-keys.ts';
import { readInboundText } from './inbound-text.ts';
import { receiptWords } from './receipt-words.ts';
import type { SmppSettings } from './settings.ts';

/** Kinds of deliveries. */
export type DeliveredCount = 'receipts' | 'intermediate' | 'unreadable' | 'inbound';

/** Writes the receipts and texts of a carrier, many with one commit, and learns how the carrier writes its ids. */
export interface ReceiptInbox {
  /** Resolves to the command_status to answer with, once the receipt is on disk. */
  take(delivery: Delivery): Promise<number>;
  /** From now on a failed write is not retried. */
  stop(): void;
  /** Shows each receipt to an operator's test first, until the returned function is called. True: the test takes it. */
  watch(onReceipt: (receipt: Receipt) => boolean): () => void;
  /** The carrier gave a text this id. */
  noteId(carrierMessageId: string): void;
  /** A hint for the operator, if receipts would match under other settings. */
  readonly hint: string | null;
}

export interface ReceiptInboxOptions {
  /** As they are now: an operator may change them. */
  settings: () => SmppSettings;
  receive: ReceiveReceipts;
  receiveInbound: ReceiveInbound;
  onCount: (name: DeliveredCount) => void;
}

const mostIds = 5000;
const mostPerWrite = 500;
/** A text from a phone may need several statements. */
const mostTextsPerWrite = 50;
/** Tries for half a minute in all. */
const mostTries = 120;
const tryAgainMs = 250;

export function createReceiptInbox(options: ReceiptInboxOptions): ReceiptInbox {
  const { settings, receive, receiveInbound, onCount } = options;
  const writeReceipts = createSharedWrites<Receipt>({ mostPerWrite, write: retry(receive) });
  const writeTexts = createSharedWrites<InboundText>({ mostPerWrite: mostTextsPerWrite, write: retry(receiveInbound) });
  let isStopped = false;
  /** The newest ids: from `mostIds` to twice as many. */
  let newestIds = new Set<string>();
  let olderIds = new Set<string>();
  const isKnown = (id: string) => newestIds.has(id) || olderIds.has(id);
  const fits = new Map<string, number>();
  const watchers = new Set<(receipt: Receipt) => boolean>();

  /** A restart of the database must not end the session. After the last try the carrier gets no answer, and resends. */
  function retry<Item>(write: (items: Item[]) => Promise<void>): (items: Item[]) => Promise<void> {
    return async (items) => {
      for (let tries = 1; ; tries++) {
        try {
          return await write(items);
        } catch (error) {
          if (tries === mostTries || isStopped) throw error;
          await new Promise((resolve) => setTimeout(resolve, tryAgainMs));
        }
      }
    };
  }

  /** Counts the other settings under which a receipt would have found its text. */
  function learn(id: string): void {
    const { response, receipt } = settings().message_id;
    const forms = wouldFit(id, isKnown);
    if (forms === undefined || (forms.response === 'exact' && response === 'exact')) return;
    const isSetSo = forms.response === response && forms.receipt === receipt;
    const isFoundAnyway = receiptKeysOf(id, settings().message_id).some(isKnown);
    if (isSetSo || isFoundAnyway) return;
    const name = describeForms(forms);
    fits.set(name, (fits.get(name) ?? 0) + 1);
  }

  function toReceipt(parsed: ParsedReceipt, tlvs: readonly Tlv[]): Receipt | undefined {
    const { outcome, carrierMessageIds, numbers } = parsed;
    if (outcome === 'intermediate') return undefined;
    for (const id of carrierMessageIds) learn(id);
    return {
      carrierMessageId: carrierMessageIds[0] ?? '',
      keys:
        carrierMessageIds.length === 0
          ? ['']
          : carrierMessageIds.flatMap((id) => receiptKeysOf(id, settings().message_id)),
      numbers,
      messageId: null,
      outcome,
      error: receiptErrorOf(parsed.error, outcome, settings().errors),
      reported: outcome === 'delivered' ? null : receiptWords(parsed, tlvs),
    };
  }

  return {
    async take(delivery) {
      const given = { shortMessage: noOctets, ...delivery };
      const delivered = readDelivered(given, settings());
      if (delivered.kind !== 'receipt') onCount(delivered.kind);
      if (delivered.kind === 'inbound') await writeTexts([readInboundText(given, settings())]);
      if (delivered.kind !== 'receipt') return statuses.ok;
      const receipt = toReceipt(delivered, given.tlvs);
      onCount(receipt === undefined ? 'intermediate' : 'receipts');
      if (receipt === undefined) return statuses.ok;
      const owners = [...watchers].filter((onReceipt) => onReceipt(receipt));
      if (owners.length === 0) await writeReceipts([receipt]);
      return statuses.ok;
    },
    watch(onReceipt) {
      watchers.add(onReceipt);
      return () => void watchers.delete(onReceipt);
    },
    stop() {
      isStopped = true;
    },
    noteId(id) {
      newestIds.add(id);
      if (newestIds.size < mostIds) return;
      olderIds = newestIds;
      newestIds = new Set();
    },
    get hint() {
      const [best] = [...fits].sort(([, a], [, b]) => b - a);
      return best === undefined ? null : `${best[1]} receipts matched no text; they would with message_id: ${best[0]}`;
    },
  };
}

const noOctets = Buffer.alloc(0);
