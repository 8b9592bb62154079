import type { QueueEntry } from '../../../src/delivery/attempts/queued-text.ts';
import type { Results } from './result-statements.ts';
import type { HandedText, Node, State, Worker, Writing } from './state.ts';
import { type ClaimRow, entriesOf, isUnsent, messageIn, type Tables } from './tables.ts';
import { nameOf, readCarrierId, type TextName, textNames, tickMs } from './texts.ts';

/**
 * A text for a state: states with the same text have the same future. The nodes are alike, so that it does not matter
 * which of them is which. Once no receipt can come, what only receipts are matched by is left out; so are
 * texts that nothing can change, and attempts are counted from that of the record.
 */
export function canonical(state: State, mayReport: boolean): string {
  const { tick, faults, receipts, tables, mover } = state;
  const forms = formsOf(tables, mayReport);
  const over = mayReport ? [] : textNames.filter((name) => isOver(state, name));
  const claims = claimForms(tables, forms);
  const nodes = state.nodes.map((node) => nodeForm(node, { claims, over, forms })).sort();
  const reported = mayReport ? reportedForm(tables) : '';
  const moving = mover === undefined ? '' : `${mover.from}${mover.names.join()}`;
  const rows = `${forms.tables(tables, over)}${claims.form}${reported}`;
  return `${tick}${faults}${receipts}|${rows}|${nodes.join('|')}|${moving}|${seenForm(state, over, mayReport)}`;
}

/** Without receipts, attempts are counted from that of the record. */
export const formsOf = (tables: Tables, mayReport: boolean): Forms =>
  formsFrom(mayReport ? asCounted : attemptsIn(tables));

export interface ClaimForms {
  form: string;
  /** By the number of a claim. */
  indexes: ReadonlyMap<number, number>;
}

/** Claims have no number here, but an index. */
export function claimForms(tables: Tables, forms: Forms): ClaimForms {
  const claims = tables.claims.map((row) => ({ id: row.id, form: forms.claim(row) })).sort(byForm);
  const indexes = new Map(claims.map(({ id }, index) => [id, index]));
  return { form: claims.map(({ form }) => form).join(';'), indexes };
}

type Attempts = Readonly<Record<TextName, number>>;

const asCounted: Attempts = { code: 0, long: 0 };
/** Of a text without a record no attempt matters: counted from this, they are all the same. */
const noMatter = Number.NaN;
const attemptsIn = (tables: Tables): Attempts => ({
  code: messageIn(tables, 'code')?.attempt ?? noMatter,
  long: messageIn(tables, 'long')?.attempt ?? noMatter,
});

const byForm = (one: { form: string }, other: { form: string }) => (one.form < other.form ? -1 : 1);

/** It has left or ended, and nothing that is left to do names it: a late answer changes no row. */
export function isOver({ tables, nodes, mover }: State, name: TextName): boolean {
  if (!isDone(tables, name) || mover?.names.includes(name)) return false;
  return nodes.every(({ workers }) => workers.every((worker) => !isNamed(worker, name)));
}

export function isDone(tables: Tables, name: TextName): boolean {
  const row = messageIn(tables, name);
  return (row === undefined || !isUnsent(row.status)) && entriesOf(tables, name).length === 0;
}

export const isNamed = (worker: Worker, name: TextName) => formsFrom(asCounted).worker(worker).includes(name);

export interface FormContext {
  claims: ClaimForms;
  /** Texts that nothing can change. */
  over: readonly TextName[];
  forms: Forms;
}

function nodeForm({ aheadTicks, workers }: Node, context: FormContext): string {
  return `${aheadTicks}${workers.map((worker) => workerFormIn(worker, context)).join('')}`;
}

/** A claim that is gone has no index. */
export function workerFormIn(worker: Worker, { claims, over, forms }: FormContext): string {
  let form = `&${worker.phase === 'idle' ? '' : (claims.indexes.get(worker.claim.id) ?? 'x')}${forms.worker(worker)}`;
  for (const text of worker.late) if (!over.includes(nameOf(text.claimed.entry))) form += `+${forms.handed(text)}`;
  return form;
}

/** What the invariants remember, and the copies that carriers may have. */
export function seenForm(
  { wire, witness }: Pick<State, 'wire' | 'witness'>,
  over: readonly TextName[],
  mayReport: boolean,
): string {
  const isOpen = (name: TextName) => !over.includes(name);
  const { submitted, excused, moves, unclaimed } = witness;
  const names = `${submitted.filter(isOpen).join()};${excused.filter(isOpen).join()};${unclaimed ?? ''}`;
  const copies = wire.map(readCarrierId).filter(({ name }) => isOpen(name));
  // Receipts go by the attempt, and everything else by how many copies there are.
  const ids = copies.map(({ name, carrier, attempt, part }) => `${name}${carrier}${part}${mayReport ? attempt : ''}`);
  return `${ids.sort().join()}|${names}${isOpen('code') ? moves.code : ''},${isOpen('long') ? moves.long : ''}`;
}

/** By which receipts find texts, and what they leave there. */
function reportedForm({ messages, parts, attempts, sentTexts, unmatched }: Tables): string {
  let form = '/r';
  for (const { carrierMessageId, hasLeft } of messages) form += `${carrierMessageId ?? ''}${hasLeft ? 1 : 0};`;
  for (const { part, outcome } of parts) form += `${part}${outcome ?? ''}`;
  for (const { name, attempt, carrier, outcome, receipt } of attempts)
    form += `${name}${attempt}${carrier}${outcome}${receipt ?? ''}`;
  form += `/${sentTexts.join()}/`;
  for (const { carrierMessageId, outcome } of unmatched) form += carrierMessageId + outcome;
  return form;
}

export interface Forms {
  tables(tables: Tables, over: readonly TextName[]): string;
  claim(row: ClaimRow): string;
  /** Without its late texts. */
  worker(worker: Worker): string;
  handed(text: HandedText): string;
}

const known = new Map<string, Forms>();

function formsFrom(base: Attempts): Forms {
  const key = `${base.code},${base.long}`;
  let forms = known.get(key);
  if (forms === undefined) {
    forms = createForms(base);
    known.set(key, forms);
  }
  return forms;
}

/** Forms in which attempts are counted from these; that a text was never tried is kept apart. */
function createForms(base: Attempts): Forms {
  function entryForm({ messageId, attempt, unanswered, possibleDuplicates, inDoubt, moves }: QueueEntry): string {
    const tries = attempt === 0 ? 'n' : attempt - base[messageId as TextName];
    return `${messageId}${tries},${unanswered},${possibleDuplicates}${inDoubt ? 1 : 0}${moves}`;
  }

  const entriesForm = (entries: readonly QueueEntry[]) => entries.map(entryForm).join('+');

  function tablesForm(tables: Tables, over: readonly TextName[]): string {
    const { messages, queue, schedule, parts, paused, pending } = tables;
    let form = `${pending && !over.includes('code') ? 1 : 0}${paused.join('')}`;
    for (const { name, status, attempt, possibleDuplicates, carrier } of messages)
      if (!over.includes(name)) form += `;${name}${status}${attempt - base[name]},${possibleDuplicates}${carrier}`;
    form += '/q';
    for (const { carrier, entry } of queue) form += carrier + entryForm(entry);
    form += '/s';
    for (const { carrier, entry, dueAtMs } of schedule) form += `${carrier}${dueAtMs / tickMs}${entryForm(entry)}`;
    form += '/p';
    for (const { name, part, state } of parts) if (!over.includes(name)) form += part + state;
    return `${form}/c`;
  }

  const claimForm = ({ carrier, claimedAtMs, leasedUntilMs, revision, entries }: ClaimRow) =>
    `${carrier}${claimedAtMs / tickMs},${leasedUntilMs / tickMs},${revision}${entriesForm(entries)}`;

  function workerForm(worker: Worker): string {
    const { isUp, phase, claim, claimedAtMs, begunTick, entries, texts, unsent, rejected, queue, flight } = worker;
    const up = isUp ? 1 : 0;
    // Parts may wait, and be in the window, without a claim only where a late answer submits.
    if (phase === 'idle') return `${up}${queue.join()}${flight}`;
    if (phase === 'giving') return `${up}giving${claim.revision}`;
    const times = `${claimedAtMs / tickMs},${begunTick}`;
    if (phase === 'claimed') return `${up}claimed${claim.revision}@${times}${entriesForm(entries)}`;
    const waiting = `${resultsForm(unsent)}${entriesForm(rejected)}/${queue.join()}/${flight}`;
    return `${up}sending${claim.revision}@${times}${texts.map(handedForm).join('+')}/${waiting}${writingForm(worker.writing)}`;
  }

  function handedForm({ claimed: { message, entry, parts }, events, silent }: HandedText): string {
    const read = parts.map(({ part, state }) => `${part}${state}`).join('');
    return `${entryForm(entry)}${message.status}${read}.${events}.${silent.join('')}`;
  }

  function resultsForm({ ended, again }: Results): string {
    const ends = ended.map(({ entry, status }) => `${status}${entryForm(entry)}`);
    return `${ends.join()}~${again.map(({ entry, carrier, dueAtMs }) => `${carrier}${dueAtMs / tickMs}${entryForm(entry)}`).join()}`;
  }

  function writingForm(writing: Writing | undefined): string {
    if (writing === undefined) return '';
    const { given, isBare } = writing;
    return `!${isBare ? 'bare' : ''}${given.claim.revision}${resultsForm(given)}${entriesForm(given.remaining)}`;
  }

  return { tables: tablesForm, claim: kept(claimForm), worker: kept(workerForm), handed: kept(handedForm) };
}

/** Most steps change one worker or the tables only, and leave the rest of the state as it is. */
function kept<Of extends object>(form: (of: Of) => string): (of: Of) => string {
  const forms = new WeakMap<Of, string>();
  return (of) => {
    let found = forms.get(of);
    if (found === undefined) {
      found = form(of);
      forms.set(of, found);
    }
    return found;
  };
}
