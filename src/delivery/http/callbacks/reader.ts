// Tests: src/delivery/http/presets/presets.test.ts
import { createHash } from 'node:crypto';
import { isId } from '../../../platform/ids.ts';
import type { InboundText, Receipt } from '../../carrier/carrier.ts';
import { partKey, readCarrierId } from '../../carrier/id.ts';
import { joinCarrierWords } from '../../carrier/words.ts';
import type { Description, InboundDescription, ReceiptDescription } from '../description.ts';
import { findAll, findText } from '../paths.ts';
import { type CallbackRequest, documentOf, queryOf } from './request.ts';

/** More than any provider puts into one callback. */
const mostEntries = 1000;
const longestText = 10_000;
const longestNumber = 32;

/** The entries of a callback; undefined if it cannot be read. Useless entries are left out. */
export function readReceipts(request: CallbackRequest, described: ReceiptDescription): Receipt[] | undefined {
  const entries = entriesOf(request, described);
  return entries?.flatMap((entry) => receiptOf(entry, request, described) ?? []);
}

export function readInbound(request: CallbackRequest, described: InboundDescription): InboundText[] | undefined {
  const entries = entriesOf(request, described);
  return entries?.flatMap((entry) => inboundOf(entry, described) ?? []);
}

function entriesOf(
  request: CallbackRequest,
  { format, list, only }: Pick<ReceiptDescription, 'format' | 'list' | 'only'>,
): unknown[] | undefined {
  const document = documentOf(request, format);
  if (typeof document !== 'object' || document === null) return undefined;
  const found = list === undefined ? [document] : findAll(document, list);
  const entries = found.flat();
  if (entries.length > mostEntries) return undefined;
  if (only === undefined) return entries;
  const wanted = only.in.map(String);
  return entries.filter((entry) => wanted.includes(findText(entry, only.path) ?? ''));
}

/** An unknown state counts as still under way, like states that are left out. */
function receiptOf(entry: unknown, request: CallbackRequest, described: ReceiptDescription): Receipt | undefined {
  const id = readCarrierId(findText(entry, described.id) ?? '');
  const written = findText(entry, described.state.path);
  const state = stateOf(written, described.state.map);
  if (id === '' || state === undefined || state === 'pending') return undefined;
  const part = partOf(findText(entry, described.part));
  const to = findText(entry, described.to)?.replaceAll(/\D/g, '') ?? '';
  const code = findText(entry, described.error?.path);
  return {
    carrierMessageId: id,
    // The key of the part comes first, in case the text was stored by parts.
    keys: part === undefined ? [id] : [partKey(id, part), id],
    numbers: to === '' ? [] : [to],
    messageId: referenceOf(entry, request, described),
    outcome: state,
    // Some providers put the error into the state itself.
    reported: state === 'delivered' ? null : joinCarrierWords([written, code === written ? undefined : code]),
    error: state === 'delivered' || code === undefined ? null : (own(described.error?.map ?? {}, code) ?? null),
  };
}

/** Reads the number of a part: `2 of 3`, or `2`. */
function partOf(text: string | undefined): number | undefined {
  const part = /^(\d{1,2})(?:\D|$)/.exec(text ?? '')?.[1];
  return part === undefined ? undefined : Number(part);
}

function stateOf(written: string | undefined, map: ReceiptDescription['state']['map']) {
  return written === undefined ? undefined : own(map, written);
}

function own<Value>(map: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** Our id, if the provider returns it: in the entry, or in the URL that it was given. */
function referenceOf(entry: unknown, request: CallbackRequest, { reference }: ReceiptDescription): string | null {
  if (reference === undefined) return null;
  const found = reference.startsWith('query:')
    ? queryOf(request)?.find(([name]) => name === reference.slice(6))?.[1]
    : findText(entry, reference);
  return found !== undefined && isId('msg', found) ? found : null;
}

function inboundOf(entry: unknown, described: InboundDescription): InboundText | undefined {
  const [from, to, text] = [described.from, described.to, described.text].map((path) => findText(entry, path));
  if (!from || !to || text === undefined || text.length > longestText) return undefined;
  if (from.length > longestNumber || to.length > longestNumber) return undefined;
  return {
    carrierMessageId: findText(entry, described.id) ?? null,
    from: numberOf(from),
    to: numberOf(to),
    text: text.replaceAll('\0', ''),
    part: inboundPartOf(entry, described.part),
  };
}

/** Providers write whole numbers with and without a plus; short codes and names stay as they are. */
function numberOf(written: string): string {
  const trimmed = written.trim();
  return /^\d{7,15}$/.test(trimmed) ? `+${trimmed}` : trimmed;
}

function inboundPartOf(entry: unknown, paths: NonNullable<Description['inbound']>['part']): InboundText['part'] {
  if (paths === undefined) return null;
  const [part, total] = [paths.part, paths.total].map((path) => {
    const text = findText(entry, path) ?? '';
    return /^\d{1,3}$/.test(text) ? Number(text) : 0;
  });
  const written = findText(entry, paths.reference);
  if (written === undefined || !part || !total || part > total || total < 2 || total > 255) return null;
  return { reference: referenceNumber(written), width: 16, part, total };
}

/** Parts are joined by a number of 16 bits; some providers give them any text. */
function referenceNumber(written: string): number {
  const number = /^\d{1,5}$/.test(written) ? Number(written) : 0x10000;
  return number <= 0xffff ? number : createHash('sha256').update(written).digest().readUInt16BE();
}
