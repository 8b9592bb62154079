import type { EndedText, QueueEntry, ScheduledText } from '../../../src/delivery/attempts/queued-text.ts';
import { readTexts } from './claim-statements.ts';
import { resultsOf, selectTexts, submittedText } from './decisions.ts';
import { type RecordArguments, type Results, recordClaimByIdAlone } from './result-statements.ts';
import {
  type Fault,
  type HandedText,
  idleWorker,
  type ModelStep,
  type Settings,
  type State,
  type Worker,
  type Writing,
  withTables,
  withWorker,
} from './state.ts';
import { statements } from './statements.ts';
import { isUnsettled } from './tables.ts';
import { type CarrierName, carrierNames, expiryTick, nameOf, tickMs } from './texts.ts';

/** Where a worker is: the node, and the place of its carrier. */
export interface At {
  node: number;
  index: number;
  worker: Worker;
  carrier: CarrierName;
  /** By the node's wall clock. */
  nowMs: number;
  who: string;
}

export function workersOf(state: State): At[] {
  return state.nodes.flatMap(({ workers, aheadTicks }, node) =>
    workers.map((worker, index) => {
      const carrier = carrierNames[index] ?? 'a';
      const nowMs = Math.max(0, state.tick + aheadTicks) * tickMs;
      return { node, index, worker, carrier, nowMs, who: `node ${node + 1}, carrier ${carrier}` };
    }),
  );
}

export const change = (state: State, { node, index }: At, changes: Partial<Worker>) =>
  withWorker(state, node, index, changes);

/** One more of the faults that a run may have. */
export const spent = (state: State): State => ({ ...state, faults: state.faults + 1 });
export function may({ mostFaults, kinds }: Settings, { faults }: Pick<State, 'faults'>, fault: Fault): boolean {
  return faults < mostFaults && (kinds === undefined || kinds.includes(fault));
}

const has = ({ defects = [] }: Settings, defect: NonNullable<Settings['defects']>[number]) => defects.includes(defect);

/** What the worker keeps when its claim is over: late answers may still come. */
const freed = ({ isUp, late, queue, flight }: Worker): Partial<Worker> => ({
  ...idleWorker(isUp),
  late,
  queue,
  flight,
});

/** `workOnce` in delivery-worker.ts, up to the answer of the claim. */
export function claimSteps(settings: Settings, state: State, at: At): ModelStep[] {
  const { worker, carrier, nowMs } = at;
  if (worker.phase !== 'idle' || !worker.isUp || state.nodes[at.node]?.aheadTicks !== 0) return [];
  const waiting = state.tables.queue.filter((row) => row.carrier === carrier).length;
  if (waiting === 0 || state.tables.paused.includes(carrier)) return [];
  const steps: ModelStep[] = [];
  for (let limit = 1; limit <= waiting; limit++) {
    steps.push(...claimStep(settings, state, at, { limit, nowMs }));
    // The clock is read before the claim, and may be set in between.
    if (may(settings, state, 'clock'))
      for (const aheadTicks of [expiryTick, -expiryTick]) {
        const jumped = { ...settings, kinds: [] };
        const wrongMs = Math.max(0, state.tick + aheadTicks) * tickMs;
        for (const { name, next, ran } of claimStep(jumped, state, at, { limit, nowMs: wrongMs })) {
          const nodes = next.nodes.map((node, index) => (index === at.node ? { ...node, aheadTicks } : node));
          steps.push({
            name: `${name}, by a clock that jumped by ${aheadTicks}`,
            next: spent({ ...next, nodes }),
            ran,
          });
        }
      }
  }
  return steps;
}

function claimStep(
  settings: Settings,
  state: State,
  at: At,
  { limit, nowMs }: { limit: number; nowMs: number },
): ModelStep[] {
  const given = { carrier: at.carrier, id: freeId(state), nowMs, databaseMs: state.tick * tickMs, limit };
  const tables = statements.claimTexts(state.tables, given);
  const ran = { statement: 'claimTexts' as const, given };
  const entries = tables.claims.at(-1)?.entries ?? [];
  const claim = { id: given.id, revision: 0 };
  const taken = { claim, claimedAtMs: nowMs, begunTick: state.tick, entries };
  const name = `${at.who}: claims ${entries.map(nameOf).join(' and ')}`;
  const after = withTables(state, tables);
  const steps: ModelStep[] = [{ name, next: change(after, at, { phase: 'claimed', ...taken }), ran }];
  if (may(settings, state, 'lost answer')) {
    const lost = has(settings, 'claim left') ? {} : ({ phase: 'giving', claim } as const);
    steps.push({ name: `${name}, and the answer is lost`, next: spent(change(after, at, lost)), ran });
  }
  return steps;
}

/** A number that no process knows: a claim that is gone, and that no worker remembers, may have had it. */
function freeId({ tables, nodes }: State): number {
  const used = new Set([
    ...tables.claims.map(({ id }) => id),
    ...nodes.flatMap(({ workers }) => workers.map(({ claim }) => claim.id)),
  ]);
  let id = 1;
  while (used.has(id)) id++;
  return id;
}

/** `giveBackClaim`, again and again until Postgres answers. */
export function giveBackSteps(settings: Settings, state: State, at: At): ModelStep[] {
  if (at.worker.phase !== 'giving') return [];
  const given = { id: at.worker.claim.id };
  const after = withTables(state, statements.giveBackClaim(state.tables, given));
  const ran = { statement: 'giveBackClaim' as const, given };
  const name = `${at.who}: gives its claim back`;
  const steps: ModelStep[] = [{ name, next: change(after, at, freed(at.worker)), ran }];
  const isThere = after.tables !== state.tables;
  if (isThere && may(settings, state, 'lost answer'))
    steps.push({ name: `${name}, and the answer is lost`, next: spent(after), ran });
  return steps;
}

/** The reads after a claim, the selection, and the handing over to the sender: `run` in submission.ts. */
export function readSteps(settings: Settings, state: State, at: At): ModelStep[] {
  const { worker, carrier, who } = at;
  if (worker.phase !== 'claimed') return [];
  const steps: ModelStep[] = [];
  const texts = readTexts(state.tables, worker.entries).filter(({ message }) => isUnsettled(message.status));
  const { claimedAtMs: nowMs, begunTick } = worker;
  const { sending, results } = selectTexts(settings, state, { carrier, texts, nowMs, begunTick });
  const handed = sending.map((claimed): HandedText => ({ claimed, events: '', silent: [] }));
  const queue = handed.flatMap((text) =>
    submittedText(text, carrier).partsToSend.map((part) => `${nameOf(text.claimed.entry)}/${part}`),
  );
  const began = { phase: 'sending', entries: [], texts: handed, unsent: results, queue } as const;
  steps.push({ name: `${who}: reads its texts`, next: change(state, at, began) });
  if (may(settings, state, 'failed read')) {
    const failed = has(settings, 'claim left') ? freed(worker) : { phase: 'giving' as const, entries: [] };
    steps.push({ name: `${who}: cannot read its texts`, next: spent(change(state, at, failed)) });
  }
  return steps;
}

/** `collect` and `write` in submission.ts: records what is new, as soon as anything is. */
export function recordSteps(settings: Settings, state: State, at: At): ModelStep[] {
  const { worker, carrier, nowMs } = at;
  if (worker.phase !== 'sending') return [];
  if (worker.writing !== undefined) return write(settings, state, at, worker.writing, 'records again');
  const { texts, unsent, rejected, claim } = worker;
  const answers = texts.map((text) => ({ text, answer: submittedText(text, carrier).answer }));
  const open = answers.filter(({ answer }) => answer === undefined).map(({ text }) => text);
  const answered = answers.flatMap(({ text, answer }) =>
    answer === undefined ? [] : [[text.claimed, answer] as const],
  );
  if (open.length > 0 && answered.length + unsent.ended.length + unsent.again.length === 0) return [];
  const results = add(unsent, resultsOf(state, carrier, nowMs, answered));
  const remaining = [...open.map(({ claimed }) => claimed.entry), ...rejected];
  const returned = texts.filter((text) => !open.includes(text) && text.silent.length > 0);
  const late = [...worker.late, ...returned];
  const collected = change(state, at, { texts: open, unsent: { ended: [], again: [] }, late });
  const given = { claim, carrier, account: carrier, ...results, remaining };
  const what = open.length > 0 ? 'records a piece' : 'records the rest';
  return write(settings, collected, at, { given, isBare: false }, what);
}

const workerAt = ({ nodes }: State, { node, index }: At) => nodes[node]?.workers[index] ?? idleWorker(false);

/** `record` in result-writer.ts: repeats a statement until it is answered. */
function write(settings: Settings, state: State, at: At, writing: Writing, what: string): ModelStep[] {
  const { given, isBare } = writing;
  const record = has(settings, 'no revision') ? recordClaimByIdAlone : statements.recordClaim;
  const after = withTables(state, record(state.tables, given));
  const ran = { statement: 'recordClaim' as const, given };
  const name = `${at.who}: ${what}`;
  const steps: ModelStep[] = [{ name, next: written(after, at, given), ran }];
  if (after.tables !== state.tables && may(settings, state, 'lost answer'))
    steps.push({ name: `${name}, and the answer is lost`, next: spent(change(after, at, { writing })), ran });
  if (!may(settings, state, 'rejection')) return steps;
  if (isBare) steps.push(unrecordedStep(state, at, given));
  // What Postgres refuses for good came from the carrier.
  else for (const bad of entriesWithIds(given)) steps.push(refusedStep(settings, state, at, { given, bad }));
  return steps;
}

/** The statement was answered. The claim is over when the sender has none of its texts. */
function written(state: State, at: At, { claim: { id, revision } }: RecordArguments): State {
  const worker = workerAt(state, at);
  if (worker.texts.length === 0) return change(state, at, freed(worker));
  return change(state, at, { writing: undefined, claim: { id, revision: revision + 1 } });
}

function entriesWithIds({ ended, again }: Results): QueueEntry[] {
  const accepted = ended.filter(({ carrierMessageId }) => carrierMessageId !== null);
  const named = again.filter(({ long }) => long?.parts.some(({ carrierMessageId }) => carrierMessageId !== null));
  return [...accepted, ...named].map(({ entry }) => entry);
}

/** `write` in result-writer.ts: the results beside the one that Postgres refuses are recorded, and that one goes bare. */
function refusedStep(
  settings: Settings,
  state: State,
  at: At,
  { given, bad }: { given: RecordArguments; bad: QueueEntry },
): ModelStep {
  const isBad = ({ entry }: { entry: QueueEntry }) => entry.messageId === bad.messageId;
  const isGood = (text: { entry: QueueEntry }) => !isBad(text);
  const good = { ended: given.ended.filter(isGood), again: given.again.filter(isGood) };
  const isAlone = good.ended.length + good.again.length === 0;
  const beside = { ...given, ...good, remaining: [...given.remaining, originalOf(state, given, bad)] };
  const after = isAlone ? state : withTables(state, statements.recordClaim(state.tables, beside));
  const claim = { id: given.claim.id, revision: given.claim.revision + Number(!isAlone) };
  const results = { ended: given.ended.filter(isBad), again: given.again.filter(isBad) };
  const bare = withoutDetails(results, has(settings, 'bare without parts'));
  const writing = { given: { ...given, ...bare, claim, account: undefined }, isBare: true };
  return {
    name: `${at.who}: Postgres refuses the result of ${bad.messageId}`,
    next: spent(change(after, at, { writing })),
    ran: isAlone ? undefined : { statement: 'recordClaim', given: beside },
  };
}

/** `withoutDetails` in result-writer.ts: that a carrier has a part is kept. */
function withoutDetails({ ended, again }: Results, losesParts: boolean): Results {
  const none = { carrierMessageId: null, receiptKey: null };
  const bare = <Text extends EndedText | ScheduledText>(text: Text): Text => ({
    ...text,
    long: losesParts
      ? undefined
      : text.long && { ...text.long, parts: text.long.parts.map((part) => ({ ...part, ...none })) },
    attempt: undefined,
  });
  return { ended: ended.map((text) => ({ ...bare(text), ...none })), again: again.map(bare) };
}

/** `writeBare` in result-writer.ts: the claim keeps the text until its lease ends. */
function unrecordedStep(state: State, at: At, given: RecordArguments): ModelStep {
  const [bad] = [...given.ended, ...given.again].map(({ entry }) => originalOf(state, given, entry));
  const rejected = [...workerAt(state, at).rejected, ...(bad === undefined ? [] : [bad])];
  const kept = change(state, at, { rejected, writing: undefined, claim: given.claim });
  const isOver = workerAt(state, at).texts.length === 0;
  const next = isOver ? change(kept, at, freed(workerAt(kept, at))) : kept;
  return { name: `${at.who}: Postgres refuses what became of ${bad?.messageId}`, next: spent(next) };
}

/** As the claim has it. */
function originalOf({ tables }: State, { claim }: RecordArguments, entry: QueueEntry): QueueEntry {
  const row = tables.claims.find(({ id }) => id === claim.id);
  return row?.entries.find(({ messageId }) => messageId === entry.messageId) ?? entry;
}

function add(one: Results, other: Results): Results {
  return { ended: [...one.ended, ...other.ended], again: [...one.again, ...other.again] };
}
