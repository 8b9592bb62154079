import { createInterned, type Interned } from '../interned.ts';
import { createTuples } from '../tuples.ts';
import { type ClaimForms, claimForms, type Forms, formsOf, isDone, isNamed } from './canonical.ts';
import { isBusy, isToBeRead } from './other-steps.ts';
import type { Moving, State, Witness, Worker } from './state.ts';
import { messageIn, type Tables } from './tables.ts';
import { carrierNames, nameOf, type TextName, textNames } from './texts.ts';

/** What steps add to a witness, and to the submits that carriers may have. */
export interface Addition {
  readonly submitted: readonly TextName[];
  readonly moves: Readonly<Record<TextName, number>>;
  readonly unclaimed: TextName | undefined;
}

export interface WireChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** What the explorer asks of a worker, without its texts. Masks have a bit for each text or carrier. */
export interface WorkerFacts {
  isUp: boolean;
  isIdle: boolean;
  isBusy: boolean;
  isWriting: boolean;
  isToBeRead: boolean;
  /** Answers may come to texts that it has recorded. */
  isLate: boolean;
  claimId: number;
  named: number;
}

export interface TableFacts {
  /** By carrier: whether a text waits in its queue. */
  isQueued: boolean[];
  /** By the number of a claim: its texts, as a mask. */
  claimed: number[];
  claimIds: number;
  paused: number;
  done: number;
  /** By which attempts forms count. */
  attempts: number;
  forms: Forms;
  claims: ClaimForms;
}

/** The parts of states, each with a number: a state is a few numbers. */
export interface Parts {
  tables: Interned<Tables>;
  workers: Interned<Worker>;
  movers: Interned<Moving | null>;
  wires: Interned<State['wire']>;
  witnesses: Interned<Witness>;
  additions: Interned<Addition>;
  wireChanges: Interned<WireChange>;
  factsOfWorker(number: number): WorkerFacts;
  factsOfTables(number: number): TableFacts;
  /** The wire after a change, and the witness after an addition. */
  changedWire(wire: number, change: number): number;
  extendedWitness(witness: number, addition: number): number;
}

export const noWitness: Witness = { submitted: [], excused: [], moves: { code: 0, long: 0 }, unclaimed: undefined };

/** Only receipts are matched by these: without them, states that differ in these have the same future. */
const withoutReceipts = (tables: Tables): Tables => ({ ...tables, attempts: [], sentTexts: [] });

export function createParts(): Parts {
  const all = createInterned<Tables>();
  const tables = { ...all, numberOf: (value: Tables) => all.numberOf(withoutReceipts(value)) };
  const workers = createInterned<Worker>();
  const wires = createInterned<State['wire']>();
  const witnesses = createInterned<Witness>();
  const additions = createInterned<Addition>();
  const wireChanges = createInterned<WireChange>();

  return {
    tables,
    workers,
    movers: createInterned(),
    wires,
    witnesses,
    additions,
    wireChanges,
    factsOfWorker: remembered((number) => workerFacts(workers.at(number))),
    factsOfTables: remembered((number) => tableFacts(all.at(number))),
    changedWire: rememberedPair((wire, change) => wires.numberOf(changeWire(wires.at(wire), wireChanges.at(change)))),
    extendedWitness: rememberedPair((witness, addition) =>
      witnesses.numberOf(extend(witnesses.at(witness), additions.at(addition))),
    ),
  };
}

function workerFacts(worker: Worker): WorkerFacts {
  return {
    isUp: worker.isUp,
    isIdle: worker.phase === 'idle',
    isBusy: isBusy(worker),
    isWriting: worker.writing !== undefined,
    isToBeRead: isToBeRead(worker),
    isLate: worker.late.length > 0,
    claimId: worker.claim.id,
    named: maskOf(textNames, (name) => isNamed(worker, name)),
  };
}

function tableFacts(tables: Tables): TableFacts {
  const forms = formsOf(tables, false);
  const claimed: number[] = [];
  for (const { id, entries } of tables.claims)
    claimed[id] = maskOf(textNames, (name) => entries.some((entry) => nameOf(entry) === name));
  return {
    isQueued: carrierNames.map((name) => tables.queue.some(({ carrier }) => carrier === name)),
    claimed,
    attempts: attemptsKey(tables),
    claimIds: tables.claims.reduce((mask, { id }) => mask | (1 << id), 0),
    paused: maskOf(carrierNames, (name) => tables.paused.includes(name)),
    done: maskOf(textNames, (name) => isDone(tables, name)),
    forms,
    claims: claimForms(tables, forms),
  };
}

/** Attempts are counted from those of the records. */
const attemptsKey = (tables: Tables) =>
  textNames.reduce((key, name) => key * 64 + (messageIn(tables, name)?.attempt ?? 63), 0);

export function maskOf<Name>(names: readonly Name[], has: (name: Name) => boolean): number {
  return names.reduce((mask, name, index) => (has(name) ? mask | (1 << index) : mask), 0);
}

/** A submit that is no longer with its carrier is gone from the wire, however often it is there. */
function changeWire(wire: State['wire'], { added, removed }: WireChange): State['wire'] {
  return [...wire.filter((id) => !removed.includes(id)), ...added].sort();
}

function extend({ submitted, excused, moves, unclaimed }: Witness, addition: Addition): Witness {
  return {
    submitted: [...new Set([...submitted, ...addition.submitted])].sort(),
    excused,
    moves: { code: moves.code + addition.moves.code, long: moves.long + addition.moves.long },
    unclaimed: addition.unclaimed ?? unclaimed,
  };
}

function remembered<Value>(make: (number: number) => Value): (number: number) => Value {
  const values: Value[] = [];
  return (number) => {
    const found = values[number];
    if (found !== undefined) return found;
    const value = make(number);
    values[number] = value;
    return value;
  };
}

function rememberedPair(make: (one: number, other: number) => number): (one: number, other: number) => number {
  const pairs = createTuples(2);
  const values: number[] = [];
  const pair = [0, 0];
  return (one, other) => {
    pair[0] = one;
    pair[1] = other;
    const known = pairs.size;
    const index = pairs.numberOf(pair);
    if (index === known) values[index] = make(one, other);
    return values[index] ?? 0;
  };
}
