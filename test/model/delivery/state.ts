import type { ClaimedText, QueueEntry } from '../../../src/delivery/attempts/queued-text.ts';
import type { RecordArguments, Results } from './result-statements.ts';
import type { Ran } from './statements.ts';
import { entriesOf, type Tables } from './tables.ts';
import { type CarrierName, carrierNames, newEntry, type TextName } from './texts.ts';

export interface Settings {
  nodes: 1 | 2;
  texts: readonly TextName[];
  /** What becomes of a plain text in doubt. */
  onDoubt: 'resend' | 'hold';
  mostFaults: number;
  mostReceipts: number;
  /** Carriers that come up only later, if at all. */
  down?: readonly CarrierName[];
  /** Texts that are to be sent at the next tick. */
  scheduled?: readonly TextName[];
  /** The faults that may happen; all if undefined. */
  kinds?: readonly Fault[] | undefined;
  /** Receipts for the code repeat our id. */
  isNamed?: boolean;
  /** Errors that the product once had, by the name that defects.ts gives them. */
  defects?: readonly Defect[];
}

export const faults = [
  'lost answer',
  'failed read',
  'silence',
  'disconnect',
  'stall',
  'death',
  'clock',
  'rejection',
  'pause',
] as const;

export type Fault = (typeof faults)[number];

/** `claim left`, `no expiry`, `no revision` and `late submit` were found by this model. */
export type Defect =
  | 'leases by the node clock'
  | 'claim left'
  | 'no expiry'
  | 'drop by age'
  | 'no revision'
  | 'overdue parts'
  | 'late submit'
  | 'mover looks once'
  | 'bare without parts';

export interface State {
  readonly tick: number;
  readonly faults: number;
  readonly receipts: number;
  readonly tables: Tables;
  readonly nodes: readonly Node[];
  /** What a text mover has read and not moved yet. Several movers are as one: the statement reads each text again. */
  readonly mover: Moving | undefined;
  /** Submits that their carrier has accepted or not answered, by the id that it gives: it may report each of them. */
  readonly wire: readonly string[];
  /** For the invariants alone. */
  readonly witness: Witness;
}

export interface Moving {
  readonly from: CarrierName;
  readonly to: CarrierName;
  readonly names: readonly TextName[];
}

export interface Witness {
  readonly submitted: readonly TextName[];
  /** Texts that a worker held unsent while it stood still or died: who releases them cannot know that. */
  readonly excused: readonly TextName[];
  readonly moves: Readonly<Record<TextName, number>>;
  /** A submit that no claim stood for. */
  readonly unclaimed: TextName | undefined;
}

export interface Node {
  /** How far its wall clock is off: meanwhile it claims nothing, and does no upkeep. Its steady clock never is. */
  readonly aheadTicks: number;
  /** One for each carrier. */
  readonly workers: readonly Worker[];
}

export interface Worker {
  readonly isUp: boolean;
  /** `giving`: it does not know whether it has the claim, or what is in it, and gives it back. */
  readonly phase: 'idle' | 'giving' | 'claimed' | 'sending';
  readonly claim: { readonly id: number; readonly revision: number };
  readonly claimedAtMs: number;
  /** By the steady clock: it sends nothing of the claim after this tick. */
  readonly begunTick: number;
  /** Until they are read. */
  readonly entries: readonly QueueEntry[];
  /** Texts that the sender has, and that are not recorded. */
  readonly texts: readonly HandedText[];
  /** What was decided without a submit, and is written with the first results. */
  readonly unsent: Results;
  /** Results that were never recorded, because Postgres rejects them: the claim keeps their texts until its end. */
  readonly rejected: readonly QueueEntry[];
  /** Parts that wait for the window, such as `long/2`. */
  readonly queue: readonly string[];
  /** The part in the window; empty if there is none. */
  readonly flight: string;
  /** A statement that is to be run: its answer was lost, or Postgres has refused it with more in it. */
  readonly writing: Writing | undefined;
  /** Texts that were recorded in doubt, and whose answers may still come. */
  readonly late: readonly HandedText[];
}

export interface Writing {
  readonly given: RecordArguments;
  /** Without the carrier's id and words, which Postgres has refused. */
  readonly isBare: boolean;
}

export interface HandedText {
  readonly claimed: ClaimedText;
  /** What became of each part, in order: `A1S2` for accepted and silent. */
  readonly events: string;
  /** Parts whose answers may still come. */
  readonly silent: readonly number[];
}

export interface ModelStep {
  name: string;
  next: State;
  ran?: Ran | undefined;
}

const noResults: Results = { ended: [], again: [] };

export const idleWorker = (isUp: boolean): Worker => ({
  isUp,
  phase: 'idle',
  claim: { id: 0, revision: 0 },
  claimedAtMs: 0,
  begunTick: 0,
  entries: [],
  texts: [],
  unsent: noResults,
  rejected: [],
  queue: [],
  flight: '',
  writing: undefined,
  late: [],
});

/** The texts were accepted a moment ago. */
export function initialState({ nodes, texts, down = [], scheduled = [] }: Settings): State {
  const isLater = (name: TextName) => scheduled.includes(name);
  const carrier = 'a' as const;
  return {
    tick: 0,
    faults: 0,
    receipts: 0,
    tables: {
      messages: texts.map((name) => ({
        name,
        status: isLater(name) ? 'scheduled' : 'queued',
        attempt: 0,
        possibleDuplicates: 0,
        carrier,
        carrierMessageId: null,
        hasLeft: false,
      })),
      queue: texts.filter((name) => !isLater(name)).map((name) => ({ carrier, entry: newEntry(name) })),
      schedule: texts.filter(isLater).map((name) => ({ carrier, entry: newEntry(name), dueAtMs: 100_000 })),
      claims: [],
      parts: [],
      attempts: [],
      sentTexts: [],
      unmatched: [],
      paused: [],
      pending: true,
    },
    nodes: Array.from({ length: nodes }, () => ({
      aheadTicks: 0,
      workers: carrierNames.map((name) => idleWorker(!down.includes(name))),
    })),
    mover: undefined,
    wire: [],
    witness: { submitted: [], excused: [], moves: { code: 0, long: 0 }, unclaimed: undefined },
  };
}

export function withWorker(state: State, node: number, index: number, changes: Partial<Worker>): State {
  const nodes = state.nodes.map((each, at) => {
    if (at !== node) return each;
    return { ...each, workers: each.workers.map((worker, of) => (of === index ? { ...worker, ...changes } : worker)) };
  });
  return { ...state, nodes };
}

/**
 * Counts how often texts went on to another carrier. A late acceptance takes a move back: the text is with the first
 * carrier, and the second one never gets it.
 */
export function withTables(state: State, tables: Tables): State {
  let { moves } = state.witness;
  for (const { name, carrier } of tables.messages) {
    const before = state.tables.messages.find((row) => row.name === name);
    if (before === undefined || before.carrier === carrier) continue;
    const by = entriesOf(tables, name).length > 0 ? 1 : -1;
    moves = { ...moves, [name]: moves[name] + by };
  }
  return { ...state, tables, witness: moves === state.witness.moves ? state.witness : { ...state.witness, moves } };
}
