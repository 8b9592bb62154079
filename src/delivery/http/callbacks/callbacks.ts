// Tests: test/providers/presets.test.ts
import { findMessages } from '../../../messages/message-store.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Database } from '../../../platform/database/database.ts';
import { ApiError, notFound, unavailable } from '../../../platform/errors.ts';
import { createSharedWrites } from '../../../platform/work/shared-writes.ts';
import type { InboundSource, InboundText, Receipt } from '../../carrier/carrier.ts';
import { hasSameEnd } from '../../carrier/reported-number.ts';
import type { ReceiptDescription } from '../description.ts';
import type { CallbackCarrier, CallbackCarriers } from './carriers.ts';
import { inboundProof, leavesBodyOpen } from './proof-settings.ts';
import { isProven, isSame } from './proofs.ts';
import { readInbound, readReceipts } from './reader.ts';
import { type CallbackRequest, queryOf } from './request.ts';

/** Resolves once the texts are on disk. */
export type ReceiveInboundFrom = (source: InboundSource, texts: InboundText[]) => Promise<void>;

export interface CallbackAnswer {
  type: string;
  body: string;
}

/** Takes the reports of providers. Each call resolves once all of it is on disk: only then do we answer the provider. */
export interface Callbacks {
  receipts(name: string, token: string, request: CallbackRequest): Promise<CallbackAnswer | undefined>;
  inbound(name: string, token: string, request: CallbackRequest): Promise<CallbackAnswer | undefined>;
}

export interface CallbacksOptions {
  database: Database;
  clock: Clock;
  carriers: Pick<CallbackCarriers, 'find'>;
  /** Resolves once the receipts are on disk. */
  receipts: { apply(carrier: CallbackCarrier, receipts: Receipt[]): Promise<void> };
  receiveInbound: ReceiveInboundFrom;
  onCount: (carrier: string, name: CallbackCount, by: number) => void;
}

export type CallbackCount = 'receipts' | 'inbound' | 'unproven' | 'unreadable';

/** Maximum number of a carrier's receipts that wait for the database. The provider has to resend the others. */
const mostWaiting = 5000;
const mostPerWrite = 500;

export function createCallbacks(options: CallbacksOptions): Callbacks {
  const { database, clock, carriers, receipts, receiveInbound, onCount } = options;
  const writeReceipts = createSharedWrites<Receipt, CallbackCarrier>({
    keyOf: ({ account }) => account,
    mostPerWrite,
    full: {
      most: mostWaiting,
      refuse: () => unavailable('Too many callbacks wait for the database. Send this one again.', 5),
    },
    write: async (batch, carrier) => receipts.apply(carrier, await fitting(carrier, batch)),
  });

  async function require(name: string, token: string): Promise<CallbackCarrier> {
    const carrier = await carriers.find(name, token);
    if (carrier === undefined) throw notFound();
    return carrier;
  }

  /** A callback without a proof, except the token in its address, must match both our id and the recipient's number. */
  async function fitting({ profile }: CallbackCarrier, batch: Receipt[]): Promise<Receipt[]> {
    const described = profile.description.receipt;
    const named = batch.flatMap(({ messageId }) => messageId ?? []);
    if (described === undefined || !mustFit(described) || named.length === 0) return batch;
    const messages = await findMessages(database, [...new Set(named)]);
    const numbers = new Map(messages.map(({ id, to }) => [id, to]));
    return batch.map((receipt) => {
      const to = receipt.messageId === null ? undefined : numbers.get(receipt.messageId);
      // A masked number cannot be compared.
      const fits =
        to !== undefined && (!/^\+\d+$/.test(to) || receipt.numbers.some((number) => hasSameEnd(number, to)));
      return fits ? receipt : { ...receipt, messageId: null };
    });
  }

  function prove(carrier: CallbackCarrier, request: CallbackRequest, what: 'receipt' | 'inbound'): void {
    const described = carrier.profile.description[what];
    if (described === undefined) throw notFound();
    const { secrets, values } = carrier.profile;
    const proof = what === 'inbound' ? inboundProof(described.verify) : described.verify;
    if (isProven(request, proof, { ...values, ...secrets }, clock.nowMs())) return;
    onCount(carrier.key, 'unproven', 1);
    throw unproven();
  }

  /** The answer to a provider that asks whether the address is ours; undefined for any other request. */
  function handshake({ key, profile }: CallbackCarrier, request: CallbackRequest): CallbackAnswer | undefined {
    const described = profile.description.receipt?.handshake;
    if (described === undefined || request.method !== 'GET') return undefined;
    const parameters = Object.fromEntries(queryOf(request) ?? []);
    const secret = profile.secrets[described.secret];
    const asked = parameters[described.answer] ?? '';
    if (secret !== undefined && isSame(parameters[described.query], secret) && rightAnswer.test(asked))
      return { type: 'text/plain', body: asked };
    onCount(key, 'unproven', 1);
    throw unproven();
  }

  function readable<Value>(carrier: CallbackCarrier, read: Value[] | undefined): Value[] {
    if (read !== undefined) return read;
    onCount(carrier.key, 'unreadable', 1);
    throw new ApiError(
      'INVALID_ARGUMENT',
      'This callback cannot be read: it must be JSON or a form, as the provider sends it.',
    );
  }

  return {
    async receipts(name, token, request) {
      const carrier = await require(name, token);
      const greeted = handshake(carrier, request);
      if (greeted !== undefined) return greeted;
      prove(carrier, request, 'receipt');
      const described = carrier.profile.description.receipt;
      if (described === undefined) throw notFound();
      const read = readable(carrier, readReceipts(request, described)).filter(
        // An unsigned receipt must name the number.
        ({ numbers }) => !mustFit(described) || numbers.length > 0,
      );
      onCount(carrier.key, 'receipts', read.length);
      if (read.length > 0) await writeReceipts(read, carrier);
      return described.answer;
    },
    async inbound(name, token, request) {
      const carrier = await require(name, token);
      prove(carrier, request, 'inbound');
      const described = carrier.profile.description.inbound;
      if (described === undefined) throw notFound();
      const texts = readable(carrier, readInbound(request, described));
      onCount(carrier.key, 'inbound', texts.length);
      if (texts.length > 0) await receiveInbound(carrier, texts);
      return described.answer;
    },
  };
}

const unproven = () => new ApiError('UNAUTHENTICATED', 'The proof of this callback is missing, wrong or too old.');

/** A handshake makes us repeat a value from the request, so only these characters are allowed. */
const rightAnswer = /^[\w.-]{1,128}$/;

function mustFit({ verify, to }: ReceiptDescription): boolean {
  return leavesBodyOpen(verify) && to !== undefined;
}
