import { isAnyOver } from './claim-statements.ts';
import { canSend, doubtAfterMs, nextCarrierOf } from './decisions.ts';
import { idleWorker, type ModelStep, type Node, type Settings, type State, type Worker, withTables } from './state.ts';
import { type Ran, statements } from './statements.ts';
import { entriesOf, isUnsent, messageIn, type Tables } from './tables.ts';
import {
  type CarrierName,
  carrierNames,
  claimedText,
  expiresAtMs,
  expiryTick,
  lastTickOf,
  nameOf,
  newEntry,
  readCarrierId,
  type TextName,
  tickMs,
} from './texts.ts';
import { moveTextsAsRead, readMovable } from './waiting-statements.ts';
import { may, spent, workersOf } from './worker-steps.ts';

/**
 * Statements that leave nothing in a worker's memory. That their answer is lost changes nothing: they are run again, and a
 * carrier that got no answer to its receipt sends it twice.
 */
function statementStep(state: State, name: string, ran: Ran, tables: Tables): ModelStep[] {
  return tables === state.tables ? [] : [{ name, next: withTables(state, tables), ran }];
}

const nowOf = (state: State, { aheadTicks }: Node) => Math.max(0, state.tick + aheadTicks) * tickMs;

/** The nodes, one for each time that their clocks show: any other would do the same. */
function nodesByClock({ nodes }: State): Node[] {
  return nodes.filter((node, index) => nodes.findIndex(({ aheadTicks }) => aheadTicks === node.aheadTicks) === index);
}

/** What every node does now and then: `releaseClaims`, `queueDue`, `expireWaiting`. */
export function choreSteps({ onDoubt, defects = [] }: Settings, state: State): ModelStep[] {
  const { tables } = state;
  const steps: ModelStep[] = [];
  for (const node of nodesByClock(state)) {
    // A node whose clock is wrong does no upkeep.
    if (node.aheadTicks !== 0 && !defects.includes('leases by the node clock')) continue;
    const nowMs = nowOf(state, node);
    for (const [index, carrier] of carrierNames.entries()) {
      const leaseMs = defects.includes('leases by the node clock') ? nowMs : state.tick * tickMs;
      // A worker whose own results wait for the database releases nothing.
      const isAble = state.nodes.some(
        ({ aheadTicks, workers }) => aheadTicks === node.aheadTicks && workers[index]?.writing === undefined,
      );
      if (isAble && isAnyOver(tables, carrier, leaseMs)) {
        const given = { carrier, nowMs, leaseMs, atMostOnce: onDoubt === 'hold', doubtAfterMs };
        const name = `the claims of carrier ${carrier} whose lease is over are released`;
        steps.push(
          ...statementStep(state, name, { statement: 'releaseClaims', given }, statements.releaseClaims(tables, given)),
        );
      }
      if (tables.schedule.some((row) => row.carrier === carrier && row.dueAtMs <= nowMs)) {
        const given = { carrier, nowMs };
        const ran = { statement: 'queueDue', given } as const;
        steps.push(
          ...statementStep(state, `what is due on ${carrier} is queued`, ran, statements.queueDue(tables, given)),
        );
      }
    }
    if (!defects.includes('no expiry') && isOverdue(tables, nowMs)) {
      const given = { nowMs };
      const ran = { statement: 'expireWaiting', given } as const;
      steps.push(
        ...statementStep(state, 'what waits past its time ends', ran, statements.expireWaiting(tables, given)),
      );
    }
  }
  return steps;
}

const isOverdue = ({ queue, schedule }: Tables, nowMs: number) =>
  nowMs >= expiresAtMs && queue.length + schedule.length > 0;

/**
 * Time passes when every node has done what cannot wait: a worker is done with its claim by the end of the lease, leases
 * that are over are released, and what has expired has ended. A node that stands still does nothing of that.
 */
export function tickSteps(settings: Settings, state: State): ModelStep[] {
  const lastTick = lastTickOf(settings);
  if (state.tick >= lastTick) return [];
  const next = { ...state, tick: state.tick + 1 };
  const isLast = next.tick === lastTick;
  const busy = state.nodes.map(({ workers, aheadTicks }) => workers.some(isBusy) || (isLast && aheadTicks !== 0));
  const isUpkept = (index?: number) =>
    state.nodes.every(({ aheadTicks }, at) => aheadTicks !== 0 || at === index) || !hasChores(settings, state);
  const steps: ModelStep[] = [];
  if (!busy.includes(true) && isUpkept()) steps.push({ name: 'time passes', next });
  // The bound on the end of every text is for a time in which the nodes run.
  if (isLast || !may(settings, state, 'stall')) return steps;
  for (const [index, node] of state.nodes.entries()) {
    if (!busy[index] || busy.some((isOther, at) => isOther && at !== index) || !isUpkept(index)) continue;
    const name = `time passes while node ${index + 1} stands still`;
    steps.push({ name, next: spent(excuse(next, node)) });
  }
  return steps;
}

export const isBusy = ({ phase, queue, flight }: Worker) => phase !== 'idle' || flight !== '' || queue.length > 0;

function hasChores({ defects = [] }: Settings, { tick, tables }: State): boolean {
  const isExpiring = !defects.includes('no expiry') && isOverdue(tables, tick * tickMs);
  return isExpiring || carrierNames.some((carrier) => isAnyOver(tables, carrier, tick * tickMs));
}

/** Who releases the claims of this node cannot know that it has sent nothing of them. */
function excuse(state: State, { workers }: Node): State {
  const ids = workers.filter(({ phase }) => phase !== 'idle').map(({ claim }) => claim.id);
  const held = state.tables.claims.filter(({ id }) => ids.includes(id)).flatMap(({ entries }) => entries.map(nameOf));
  const { excused, submitted } = state.witness;
  const unsent = held.filter((name) => !submitted.includes(name) && !excused.includes(name));
  return { ...state, witness: { ...state.witness, excused: [...excused, ...unsent].sort() } };
}

export const nodeSteps = (settings: Settings, state: State): ModelStep[] =>
  state.nodes.flatMap((_, index) => nodeStepsAt(settings, state, index));

/** A node dies and starts again; a node's clock is set, which it notices by its steady clock at once. */
export function nodeStepsAt(settings: Settings, state: State, index: number): ModelStep[] {
  const node = state.nodes[index];
  if (node === undefined) return [];
  const who = `node ${index + 1}`;
  const put = (changes: Partial<Node>, from = state): State => ({
    ...from,
    nodes: from.nodes.map((each, at) => (at === index ? { ...each, ...changes } : each)),
  });
  const steps: ModelStep[] = [];
  if (node.aheadTicks !== 0) steps.push({ name: `${who}: its clock is right again`, next: put({ aheadTicks: 0 }) });
  const isLast = state.tick + 1 === lastTickOf(settings);
  if (may(settings, state, 'death') && node.workers.some(isBusy) && !isLast) {
    const workers = node.workers.map(({ isUp }) => idleWorker(isUp));
    steps.push({ name: `${who}: dies and starts again`, next: spent(put({ workers }, excuse(state, node))) });
  }
  if (may(settings, state, 'clock') && node.aheadTicks === 0) {
    for (const aheadTicks of [expiryTick, -expiryTick])
      steps.push({ name: `${who}: its clock jumps by ${aheadTicks}`, next: spent(put({ aheadTicks })) });
  }
  return steps;
}

/** An operator pauses a carrier, and lets it go on. */
export function pauseSteps(settings: Settings, state: State): ModelStep[] {
  return carrierNames.flatMap((carrier): ModelStep[] => {
    const { paused } = state.tables;
    const put = (names: CarrierName[]): State => ({ ...state, tables: { ...state.tables, paused: names } });
    if (paused.includes(carrier))
      return [{ name: `carrier ${carrier} goes on`, next: put(paused.filter((each) => each !== carrier)) }];
    return may(settings, state, 'pause')
      ? [{ name: `carrier ${carrier} is paused`, next: spent(put([...paused, carrier].sort())) }]
      : [];
  });
}

/** `look` in text-mover.ts: it reads what may move, decides, and then moves what still waits. */
export function moverSteps({ defects = [] }: Settings, state: State): ModelStep[] {
  const { tables, mover } = state;
  if (mover !== undefined) {
    const move = defects.includes('mover looks once') ? moveTextsAsRead : statements.moveTexts;
    const next = withTables({ ...state, mover: undefined }, move(tables, mover));
    const name = `${mover.names.join(' and ')} move from ${mover.from} to ${mover.to}`;
    return [{ name, next, ran: { statement: 'moveTexts', given: mover } }];
  }
  return carrierNames.flatMap((from): ModelStep[] => {
    if (canSend(state, from)) return [];
    const names = movableOn(state, from);
    const to = nextCarrierOf(state, claimedText(newEntry('code'), 'queued'), from)?.carrier as CarrierName | undefined;
    if (names.length === 0 || to === undefined) return [];
    return [
      {
        name: `the mover reads ${names.join(' and ')} of carrier ${from}`,
        next: { ...state, mover: { from, to, names } },
      },
    ];
  });
}

/** A plain text that may have been sent is never sent by a second carrier. */
function movableOn({ tables }: State, from: CarrierName): TextName[] {
  return readMovable(tables, from)
    .filter(({ name, mayHaveLeft }) => name === 'code' || !mayHaveLeft)
    .map(({ name }) => name);
}

/**
 * A caller cancels the plain text, or the verification of the code is over. Who has claimed the code reads of that end
 * before it sends, and so does a receipt: with `isLazy` the verification ends only where the next step may read of it,
 * because an earlier end, unread, is the same as that one.
 */
export function callerSteps(state: State, isLazy: boolean): ModelStep[] {
  const { tables } = state;
  const given = { name: 'long' as const };
  const steps = statementStep(
    state,
    'long is canceled',
    { statement: 'cancelText', given },
    statements.cancelText(tables, given),
  );
  if (!tables.pending || messageIn(tables, 'code') === undefined) return steps;
  const after = statements.endVerification(tables);
  const isSeen = after.messages !== tables.messages || workersOf(state).some(({ worker }) => isToBeRead(worker));
  if (isLazy && !isSeen) return steps;
  const ran = { statement: 'endVerification', given: undefined } as const;
  return [...steps, ...statementStep(state, 'the verification is over', ran, after)];
}

export const isToBeRead = ({ phase, entries }: Worker) =>
  phase === 'claimed' && entries.some((entry) => nameOf(entry) === 'code');

/** A carrier reports a text that it may have: before its answer is written, twice, or in any order. */
export function receiptSteps({ mostReceipts, isNamed = false }: Settings, state: State): ModelStep[] {
  const { tables, wire, receipts } = state;
  const nowMs = state.tick * tickMs;
  const nextOf = (id: string) => {
    const { carrier } = readCarrierId(id);
    return nextCarrierOf(state, claimedText(newEntry('code'), 'sent'), carrier)?.carrier as CarrierName | undefined;
  };
  const steps: ModelStep[] = [];
  for (const carrierMessageId of receipts < mostReceipts ? wire : []) {
    for (const outcome of ['delivered', 'undelivered'] as const) {
      const isCode = readCarrierId(carrierMessageId).name === 'code';
      const receipt = { carrierMessageId, outcome, isNamed: isNamed && isCode };
      const given = { receipt, nowMs, next: nextOf(carrierMessageId) };
      const after = withTables(state, statements.applyReceipt(tables, given));
      const next = { ...withoutReported(state, after, carrierMessageId), receipts: receipts + 1 };
      steps.push({
        name: `${carrierMessageId} is reported ${outcome}`,
        next,
        ran: { statement: 'applyReceipt', given },
      });
    }
  }
  for (const receipt of tables.unmatched) {
    const given = { receipt, nowMs, next: nextOf(receipt.carrierMessageId) };
    const after = statements.rematchReceipt(tables, given);
    for (const step of statementStep(
      state,
      'a kept receipt finds its text',
      { statement: 'rematchReceipt', given },
      after,
    ))
      steps.push({ ...step, next: withoutReported(state, step.next, receipt.carrierMessageId) });
  }
  return steps;
}

/** A code that did not arrive, and goes on to the next carrier, is no copy of what that one sends. */
function withoutReported(before: State, after: State, id: string): State {
  const { name } = readCarrierId(id);
  const isResent = entriesOf(after.tables, name).length > entriesOf(before.tables, name).length;
  return isResent ? { ...after, wire: after.wire.filter((each) => each !== id) } : after;
}

/** Partitions go by the age of their ids, but not while a text of theirs is still to be sent. */
export function dropSteps({ defects = [] }: Settings, state: State): ModelStep[] {
  if (state.tick < 1) return [];
  return state.tables.messages.flatMap(({ name, status }): ModelStep[] => {
    const isNeeded = isUnsent(status) || entriesOf(state.tables, name).length > 0 || status === 'sent';
    if (isNeeded && !(defects.includes('drop by age') && status === 'scheduled')) return [];
    const given = { name };
    const after = { ...state, tables: statements.dropPartition(state.tables, given) };
    return [{ name: `the partition of ${name} is dropped`, next: after, ran: { statement: 'dropPartition', given } }];
  });
}
