import { createNames } from '../explore.ts';
import { createTuples } from '../tuples.ts';
import { storeSteps, wireSteps } from './model.ts';
import { callerSteps, choreSteps, dropSteps, moverSteps, nodeStepsAt, pauseSteps, tickSteps } from './other-steps.ts';
import { maskOf, noWitness, type Parts } from './parts.ts';
import type { ModelStep, Settings, State, Worker } from './state.ts';
import { carrierIdOf, carrierNames, nameOf, partsOf } from './texts.ts';
import { may, workersOf } from './worker-steps.ts';

/** A state as numbers; `-1` for the workers of a node that there is not. */
export interface Numbered {
  tick: number;
  faults: number;
  /** By node. */
  ahead: [number, number];
  tables: number;
  /** By node and carrier. */
  workers: [number, number, number, number];
  mover: number;
  wire: number;
  witness: number;
}

/** What a step makes of a state; undefined is as it was. */
export interface Change {
  name: number;
  tick: number;
  faults: number;
  /** A node, and how far its clock is off now. */
  ahead: readonly [number, number] | undefined;
  tables: number | undefined;
  /** Pairs of an index in `workers` and a number. */
  workers: readonly (readonly [number, number])[];
  mover: number | undefined;
  wireChange: number | undefined;
  addition: number | undefined;
  witness: number | undefined;
}

/**
 * Every step of a state. What a group of steps makes of the parts that it reads is remembered: most states share their
 * parts with many others. Receipts are left out, because they read every part.
 */
export interface RememberedSteps {
  changesOf(state: Numbered): Change[][];
  nameOf(number: number): string;
  materialise(state: Numbered): State;
}

export function createRememberedSteps(settings: Settings, parts: Parts): RememberedSteps {
  const names = createNames();
  const slots = Array.from({ length: settings.nodes * 2 }, (_, slot) => slot);
  const nodes = Array.from({ length: settings.nodes }, (_, node) => node);

  function materialise(state: Numbered): State {
    const { tick, faults, tables, wire, witness } = state;
    return {
      tick,
      faults,
      receipts: 0,
      tables: parts.tables.at(tables),
      nodes: nodes.map((node) => ({
        aheadTicks: state.ahead[node] ?? 0,
        workers: [0, 1].map((index) => parts.workers.at(state.workers[node * 2 + index] ?? 0)),
      })),
      mover: parts.movers.at(state.mover) ?? undefined,
      wire: parts.wires.at(wire),
      witness: parts.witnesses.at(witness),
    };
  }

  /** What the steps change, if they were asked of `before`. With `isExact` they read the witness, and it is theirs. */
  function toChanges(before: State, steps: readonly ModelStep[], isExact = false): Change[] {
    return steps.map(({ name, next }) => ({
      name: names.numberOf(name),
      tick: next.tick - before.tick,
      faults: next.faults - before.faults,
      ahead: changedClock(before, next),
      tables: next.tables === before.tables ? undefined : parts.tables.numberOf(next.tables),
      workers: next.nodes.flatMap(({ workers }, node) =>
        workers.flatMap((worker, index) =>
          worker === before.nodes[node]?.workers[index]
            ? []
            : [[node * 2 + index, parts.workers.numberOf(worker)] as const],
        ),
      ),
      mover: next.mover === before.mover ? undefined : parts.movers.numberOf(next.mover ?? null),
      wireChange:
        next.wire === before.wire ? undefined : parts.wireChanges.numberOf(wireChange(before.wire, next.wire)),
      addition: isExact || next.witness === before.witness ? undefined : parts.additions.numberOf(next.witness),
      witness: isExact && next.witness !== before.witness ? parts.witnesses.numberOf(next.witness) : undefined,
    }));
  }

  /** A group of steps, by the numbers that it reads. `find` returns undefined for what `keep` is to follow. */
  function createGroup(width: number) {
    const known = createTuples(width);
    const kept: Change[][] = [];
    return {
      find: (...key: number[]): Change[] | undefined => kept[known.numberOf(key)],
      keep(before: State, steps: readonly ModelStep[], isExact = false): Change[] {
        const changes = toChanges(before, steps, isExact);
        kept.push(changes);
        return changes;
      },
    };
  }

  const groups = {
    store: createGroup(3),
    wire: createGroup(3),
    chore: createGroup(2),
    node: createGroup(5),
    pause: createGroup(3),
    mover: createGroup(3),
    caller: createGroup(3),
    drop: createGroup(3),
    tick: createGroup(6),
  };

  /** Steps that read neither wire nor witness: what they add to them is found from empty ones. */
  const apart = (state: Numbered): State => ({ ...materialise(state), wire: [], witness: noWitness });

  const isUp = ({ workers }: Numbered, carrier: number) =>
    nodes.some((node) => parts.factsOfWorker(workers[node * 2 + carrier] ?? 0).isUp);

  /** A bit for each carrier that can send. */
  function ableIn(state: Numbered): number {
    const { paused } = parts.factsOfTables(state.tables);
    return ((isUp(state, 0) ? 1 : 0) | (isUp(state, 1) ? 2 : 0)) & ~paused;
  }

  /** The first number that no claim has, and no worker remembers. */
  function freeId(state: Numbered): number {
    let used = parts.factsOfTables(state.tables).claimIds;
    for (const slot of slots) used |= 1 << parts.factsOfWorker(state.workers[slot] ?? 0).claimId;
    let id = 1;
    while (used & (1 << id)) id++;
    return id;
  }

  /** The state for the steps of a worker: the wire has every submit that they may take from it. */
  function aroundWorker(state: Numbered, slot: number): State {
    const worker = parts.workers.at(state.workers[slot] ?? 0);
    return { ...apart(state), wire: idsOf(worker, carrierNames[slot & 1] ?? 'a') };
  }

  function storeChanges(state: Numbered, slot: number, able: number, id: number): Change[] {
    const worker = state.workers[slot] ?? 0;
    const { isIdle, isLate } = parts.factsOfWorker(worker);
    // An idle worker can only claim, unless late answers come.
    if (isIdle && !isLate && !parts.factsOfTables(state.tables).isQueued[slot & 1]) return none;
    const ahead = (state.ahead[slot >> 1] ?? 0) + 8;
    const taken = isIdle ? id : 0;
    const rest = state.tick | (state.faults << 4) | (ahead << 8) | (able << 12) | (slot << 14) | (taken << 16);
    const known = groups.store.find(rest, state.tables, worker);
    if (known !== undefined) return known;
    const before = aroundWorker(state, slot);
    const at = workersOf(before)[slot];
    return groups.store.keep(before, at === undefined ? [] : storeSteps(settings, before, at));
  }

  function wireChanges(state: Numbered, slot: number): Change[] {
    const worker = state.workers[slot] ?? 0;
    const { claimId } = parts.factsOfWorker(worker);
    const claimed = parts.factsOfTables(state.tables).claimed[claimId] ?? 0;
    const rest = state.tick | (state.faults << 4) | (slot << 8);
    const known = groups.wire.find(rest, claimed, worker);
    if (known !== undefined) return known;
    const before = aroundWorker(state, slot);
    const at = workersOf(before)[slot];
    return groups.wire.keep(before, at === undefined ? [] : wireSteps(settings, before, at));
  }

  function choreChanges(state: Numbered): Change[] {
    const writing = maskOf(slots, (slot) => parts.factsOfWorker(state.workers[slot] ?? 0).isWriting);
    const [one, other] = state.ahead;
    const rest = state.tick | ((one + 8) << 4) | ((other + 8) << 8) | (writing << 12);
    const known = groups.chore.find(rest, state.tables);
    if (known !== undefined) return known;
    const before = apart(state);
    return groups.chore.keep(before, choreSteps(settings, before));
  }

  function nodeChanges(state: Numbered, node: number): Change[] {
    const { tick, faults, ahead, tables, workers, witness } = state;
    const ticks = ahead[node] ?? 0;
    const isDying = may(settings, state, 'death');
    if (ticks === 0 && !isDying && !may(settings, state, 'clock')) return none;
    const rest = tick | (faults << 4) | ((ticks + 8) << 8) | (node << 12);
    const known = isDying
      ? groups.node.find(rest, tables, workers[node * 2] ?? 0, workers[node * 2 + 1] ?? 0, witness)
      : groups.node.find(rest, -1, -1, -1, -1);
    if (known !== undefined) return known;
    const before = materialise(state);
    return groups.node.keep(before, nodeStepsAt(settings, before, node), true);
  }

  function tickChanges(state: Numbered): Change[] {
    const { tick, faults, ahead, tables, workers, witness } = state;
    const busy = nodes.filter((node) =>
      [0, 1].some((index) => parts.factsOfWorker(workers[node * 2 + index] ?? 0).isBusy),
    );
    if (busy.length > 1) return none;
    const [still] = busy;
    if (still !== undefined && !may(settings, state, 'stall')) return none;
    const rest = tick | (faults << 4) | ((ahead[0] + 8) << 8) | ((ahead[1] + 8) << 12);
    const known =
      still === undefined
        ? groups.tick.find(rest, tables, -1, -1, -1, -1)
        : groups.tick.find(rest, tables, still, workers[still * 2] ?? 0, workers[still * 2 + 1] ?? 0, witness);
    if (known !== undefined) return known;
    const before = materialise(state);
    return groups.tick.keep(before, tickSteps(settings, before), true);
  }

  type Group = ReturnType<typeof createGroup>;

  function simple(state: Numbered, group: Group, [one, two, three = 0]: number[], steps: (of: State) => ModelStep[]) {
    const known = group.find(one ?? 0, two ?? 0, three);
    if (known !== undefined) return known;
    const before = apart(state);
    return group.keep(before, steps(before));
  }

  return {
    materialise,
    nameOf: names.nameOf,
    changesOf(state) {
      const { tick, faults, tables, mover } = state;
      const able = ableIn(state);
      const id = freeId(state);
      const isSeen = slots.some((slot) => parts.factsOfWorker(state.workers[slot] ?? 0).isToBeRead);
      const isAged = tick >= 1 ? 1 : 0;
      return [
        ...slots.map((slot) => storeChanges(state, slot, able, id)),
        ...slots.map((slot) => wireChanges(state, slot)),
        choreChanges(state),
        ...nodes.map((node) => nodeChanges(state, node)),
        simple(state, groups.pause, [tables, faults], (before) => pauseSteps(settings, before)),
        simple(state, groups.mover, [tables, mover, able], (before) => moverSteps(settings, before)),
        simple(state, groups.caller, [tables, isSeen ? 1 : 0], (before) => callerSteps(before, true)),
        simple(state, groups.drop, [tables, isAged], (before) => dropSteps(settings, before)),
        tickChanges(state),
      ];
    },
  };
}

function changedClock(before: State, { nodes }: State): [number, number] | undefined {
  const node = nodes.findIndex(({ aheadTicks }, index) => aheadTicks !== before.nodes[index]?.aheadTicks);
  return node < 0 ? undefined : [node, nodes[node]?.aheadTicks ?? 0];
}

const none: Change[] = [];

/** Every id that a step of the worker may take off the wire. */
function idsOf({ texts, late }: Worker, carrier: (typeof carrierNames)[number]): string[] {
  const ids = [...texts, ...late].flatMap(({ claimed: { entry } }) => {
    const name = nameOf(entry);
    return Array.from({ length: partsOf[name] }, (_, index) =>
      carrierIdOf(name, carrier, entry.attempt + 1, index + 1),
    );
  });
  return [...new Set(ids)].sort();
}

function wireChange(before: readonly string[], after: readonly string[]) {
  const added = after.filter((id, index) => after.indexOf(id) !== index || !before.includes(id));
  return { added, removed: before.filter((id) => !after.includes(id)) };
}
