import type { QueueEntry } from '../../../src/delivery/attempts/queued-text.ts';
import type { Settings, State } from './state.ts';
import { entriesOf, isUnsent, type MessageRow, messageIn, type Tables } from './tables.ts';
import { lastTickOf, readCarrierId, type TextName } from './texts.ts';

/** What the invariants read of a state. */
export type SeenState = Pick<State, 'tick' | 'tables' | 'wire' | 'witness'>;

/** What must hold in every state; the first thing that does not. */
export function brokenIn(settings: Settings, state: SeenState): string | undefined {
  if (state.witness.unclaimed !== undefined) return `${state.witness.unclaimed} was submitted without a claim`;
  for (const name of settings.texts) {
    const broken = brokenFor(settings, state, name);
    if (broken !== undefined) return `${name} ${broken}`;
  }
  return undefined;
}

function brokenFor(settings: Settings, state: SeenState, name: TextName): string | undefined {
  const message = messageIn(state.tables, name);
  if (message === undefined) return entriesOf(state.tables, name).length > 0 ? 'has lost its record' : undefined;
  const { submitted, excused, moves } = state.witness;
  const isUnknown = message.status === 'unknown';
  return (
    wrongPlace(state.tables, message) ??
    wrongCopies(settings, state, message) ??
    wrongCarrier(state, message) ??
    (isUnknown && !submitted.includes(name) && !excused.includes(name)
      ? 'is unknown and was never submitted'
      : undefined) ??
    (moves[name] > 1 ? 'moved twice' : undefined) ??
    (state.tick >= lastTickOf(settings) && !isAtEnd(state.tables, message)
      ? `is ${message.status} after its time`
      : undefined)
  );
}

/** A text is in one place. A code that is sent again is `sent` meanwhile, and may arrive before its entry is taken out. */
function wrongPlace(tables: Tables, { name, status }: MessageRow): string | undefined {
  const isThis = ({ messageId }: QueueEntry) => messageId === name;
  const waiting = [...tables.queue, ...tables.schedule].filter(({ entry }) => isThis(entry)).length;
  const claimed = tables.claims.flatMap(({ entries }) => entries).filter(isThis).length;
  if (claimed > 1) return 'is in two claims';
  if (waiting + claimed > 1) return 'is in two places';
  if (isUnsent(status) && waiting + claimed === 0) return 'is in no place';
  // A receipt may end a text that is claimed: its row stays until the result comes.
  if (!isUnsent(status) && waiting > 0 && name !== 'code') return `is ${status} and waits to be sent`;
  return undefined;
}

/** Copies that may arrive are counted; under `hold` a plain text has one at most. */
function wrongCopies({ onDoubt }: Settings, { tables, wire }: SeenState, message: MessageRow): string | undefined {
  const { name } = message;
  const ids = wire.map(readCarrierId).filter((copy) => copy.name === name);
  for (const part of new Set(ids.map((copy) => copy.part))) {
    const copies = ids.filter((copy) => copy.part === part).length;
    if (copies - 1 > possibleDuplicates(tables, message))
      return `has ${copies} copies of part ${part} that are not counted`;
    if (copies > 1 && onDoubt === 'hold' && name !== 'code')
      return `has ${copies} copies of part ${part} in spite of hold`;
  }
  return undefined;
}

/** As it will be reported: a claim stands for the submit. */
function possibleDuplicates(tables: Tables, { name, possibleDuplicates: told }: MessageRow): number {
  const isThis = ({ messageId }: QueueEntry) => messageId === name;
  const waiting = [...tables.queue, ...tables.schedule].map(({ entry }) => entry).find(isThis);
  const claimed = tables.claims.flatMap(({ entries }) => entries).find(isThis);
  if (claimed !== undefined) return Math.max(told, claimed.possibleDuplicates + Number(claimed.inDoubt));
  return Math.max(told, waiting?.possibleDuplicates ?? 0);
}

/** A plain text that a carrier may have stays with it. */
function wrongCarrier({ tables, wire }: SeenState, { name, carrier }: MessageRow): string | undefined {
  if (name !== 'long') return undefined;
  const of = new Set(
    wire
      .map(readCarrierId)
      .filter((copy) => copy.name === name)
      .map((copy) => copy.carrier),
  );
  for (const row of tables.queue) if (row.entry.messageId === name) of.add(row.carrier);
  if (of.size > 0) of.add(carrier);
  return of.size > 1 ? 'went on to another carrier although it may have been sent' : undefined;
}

/** It has ended, or waits for a receipt, which unreported.ts ends. */
function isAtEnd(tables: Tables, { name, status }: MessageRow): boolean {
  return !isUnsent(status) && entriesOf(tables, name).length === 0;
}
