import type { QueueEntry } from '../../../src/delivery/queue-entry.ts';
import type { Results } from './result-statements.ts';
import type { HandedText, Node, State, Worker, Writing } from './state.ts';
import type { Tables } from './tables.ts';
import { tickMs } from './texts.ts';

/**
 * A text for a state. The nodes are alike, so that it does not matter which of them is which. When no receipt can come any
 * more, what only receipts are matched by is left out.
 */
export function canonical(state: State, mayReport: boolean): string {
  const { tick, faults, receipts, tables, nodes, mover, wire, witness } = state;
  const { submitted, excused, moves, unclaimed } = witness;
  const seen = `${submitted.join()};${excused.join()};${moves.code}${moves.long}${unclaimed ?? ''}`;
  const moving = mover === undefined ? '' : `${mover.from}${mover.names.join()}`;
  const forms = nodes
    .map((node) => kept(node, nodeForm))
    .sort()
    .join('|');
  return `${tick}${faults}${receipts}|${kept(tables, tablesForm)}${mayReport ? reportedForm(tables) : ''}|${forms}|${moving}|${wire.join()}|${seen}`;
}

const known = new WeakMap<object, string>();

/** Most steps change one worker or the tables only, and leave the rest of the state as it is. */
function kept<Of extends object>(of: Of, form: (of: Of) => string): string {
  let found = known.get(of);
  if (found === undefined) {
    found = form(of);
    known.set(of, found);
  }
  return found;
}

function tablesForm({ messages, queue, schedule, claims, parts, paused, pending }: Tables): string {
  let form = `${pending ? 1 : 0}${paused.join('')}`;
  for (const { name, status, attempt, possibleDuplicates, carrier } of messages)
    form += `;${name}${status}${attempt},${possibleDuplicates}${carrier}`;
  form += '/q';
  for (const { carrier, entry } of queue) form += carrier + entryForm(entry);
  form += '/s';
  for (const { carrier, entry, dueAtMs } of schedule) form += `${carrier}${dueAtMs / tickMs}${entryForm(entry)}`;
  form += '/c';
  for (const { id, carrier, claimedAtMs, leasedUntilMs, revision, entries } of claims)
    form += `${id}${carrier}${claimedAtMs / tickMs},${leasedUntilMs / tickMs},${revision}${entriesForm(entries)};`;
  form += '/p';
  for (const { part, state } of parts) form += part + state;
  return form;
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

function entryForm({ messageId, attempt, unanswered, possibleDuplicates, inDoubt, moves }: QueueEntry): string {
  return `${messageId}${attempt},${unanswered},${possibleDuplicates}${inDoubt ? 1 : 0}${moves}`;
}

const entriesForm = (entries: readonly QueueEntry[]) => entries.map(entryForm).join('+');

function nodeForm({ aheadTicks, workers }: Node): string {
  return `${aheadTicks}${workers.map((worker) => kept(worker, workerForm)).join('&')}`;
}

function workerForm(worker: Worker): string {
  const { isUp, phase, claim, claimedAtMs, begunTick, entries, texts, unsent, rejected, queue, flight } = worker;
  const late = worker.late.map(handedForm).join('+');
  const up = isUp ? 1 : 0;
  // Parts may wait, and be in the window, without a claim only where a late answer submits.
  if (phase === 'idle') return `${up}${late}${queue.join()}${flight}`;
  const of = `${claim.id},${claim.revision}`;
  if (phase === 'giving') return `${up}${late}giving${of}`;
  const times = `${claimedAtMs / tickMs},${begunTick}`;
  if (phase === 'claimed') return `${up}${late}claimed${of}@${times}${entriesForm(entries)}`;
  const waiting = `${resultsForm(unsent)}${entriesForm(rejected)}/${queue.join()}/${flight}`;
  return `${up}${late}sending${of}@${times}${texts.map(handedForm).join('+')}/${waiting}${writingForm(worker.writing)}`;
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
