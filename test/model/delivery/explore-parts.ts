import { createEdges, type Explored, findStuck, type Violation } from '../explore.ts';
import { createNumbers, type Numbers } from '../numbers.ts';
import { createSeenStates } from '../seen-states.ts';
import { createTuples, hashTuple } from '../tuples.ts';
import { seenForm, workerFormIn } from './canonical.ts';
import { brokenIn } from './invariants.ts';
import { createParts, type Parts } from './parts.ts';
import { type Change, createRememberedSteps, type Numbered } from './remembered-steps.ts';
import { initialState, type Settings, type State } from './state.ts';
import { lastTickOf, textNames } from './texts.ts';

const width = 10;
const allTexts = (1 << textNames.length) - 1;

/**
 * Visits the states that `exploreDelivery` visits, many times as fast: states are numbers of parts, and what steps make of
 * parts, and the canonical forms of parts, are remembered. It knows no receipts.
 */
export function exploreParts(settings: Settings, onLevel: (states: number) => void = () => {}): Explored {
  if (settings.mostReceipts > 0) throw new Error('receipts read every part of a state');
  const parts = createParts();
  const steps = createRememberedSteps(settings, parts);
  const formOf = createForms(settings, parts);
  const lastTick = lastTickOf(settings);
  const seen = createSeenStates();
  const parents = createNumbers();
  const stepsBefore = createNumbers();
  const edges = createEdges();
  const ends = createNumbers();
  let depth = 0;
  let found: Violation | undefined;
  let level = createNumbers();
  let nextLevel = createNumbers();
  const invariants = createInvariants(settings, parts);

  function runTo(index: number): string[] {
    const run: string[] = [];
    for (let at = index; parents.at(at) >= 0; at = parents.at(at)) run.push(steps.nameOf(stepsBefore.at(at)));
    return run.reverse();
  }

  const isEnd = (state: Numbered, over: number) => state.tick >= lastTick || over === allTexts;

  function visit(state: Numbered, parent: number, name: number): number {
    const { hashes, over } = formOf(state);
    const known = seen.size;
    const index = seen.addHashes(hashes[0], hashes[1]);
    if (index < known) return index;
    parents.push(parent);
    stepsBefore.push(name);
    const message = invariants(state);
    if (message !== undefined) found ??= { run: runTo(index), message };
    if (isEnd(state, over)) ends.push(index);
    else pushState(nextLevel, state, index);
    return index;
  }

  visit(numbered(initialState(settings), parts), -1, 0);
  const state = emptyState();
  const next = emptyState();
  while (nextLevel.length > 0 && found === undefined) {
    level = nextLevel;
    nextLevel = createNumbers();
    const known = seen.size;
    for (let at = 0; at < level.length; at += width) {
      const index = readState(level, at, state);
      edges.begin(index);
      for (const changes of steps.changesOf(state))
        for (const change of changes) {
          apply(parts, state, change, next);
          edges.add(visit(next, index, change.name));
        }
    }
    if (seen.size > known) depth++;
    onLevel(seen.size);
  }
  found ??= findStuck(seen.size, edges, valuesOf(ends), runTo);
  return { states: seen.size, depth, ...(found && { violation: found }) };
}

function* valuesOf(numbers: Numbers): Generator<number> {
  for (let at = 0; at < numbers.length; at++) yield numbers.at(at);
}

function emptyState(): Numbered {
  return { tick: 0, faults: 0, ahead: [0, 0], tables: 0, workers: [-1, -1, -1, -1], mover: 0, wire: 0, witness: 0 };
}

function numbered({ tick, faults, tables, nodes, mover, wire, witness }: State, parts: Parts): Numbered {
  const [a = -1, b = -1, c = -1, d = -1] = nodes.flatMap(({ workers }) => workers.map(parts.workers.numberOf));
  return {
    tick,
    faults,
    ahead: [0, 0],
    tables: parts.tables.numberOf(tables),
    workers: [a, b, c, d],
    mover: parts.movers.numberOf(mover ?? null),
    wire: parts.wires.numberOf(wire),
    witness: parts.witnesses.numberOf(witness),
  };
}

function pushState(level: Numbers, state: Numbered, index: number): void {
  const { tick, faults, ahead, workers } = state;
  level.push(tick | (faults << 4) | ((ahead[0] + 8) << 8) | ((ahead[1] + 8) << 12));
  level.push(state.tables);
  for (const worker of workers) level.push(worker);
  level.push(state.mover);
  level.push(state.wire);
  level.push(state.witness);
  level.push(index);
}

/** Returns the number of the state. */
function readState(level: Numbers, at: number, state: Numbered): number {
  const times = level.at(at);
  state.tick = times & 15;
  state.faults = (times >> 4) & 15;
  state.ahead[0] = ((times >> 8) & 15) - 8;
  state.ahead[1] = ((times >> 12) & 15) - 8;
  state.tables = level.at(at + 1);
  for (let slot = 0; slot < 4; slot++) state.workers[slot] = level.at(at + 2 + slot);
  state.mover = level.at(at + 6);
  state.wire = level.at(at + 7);
  state.witness = level.at(at + 8);
  return level.at(at + 9);
}

function apply(parts: Parts, state: Numbered, change: Change, next: Numbered): void {
  next.tick = state.tick + change.tick;
  next.faults = state.faults + change.faults;
  next.ahead[0] = state.ahead[0];
  next.ahead[1] = state.ahead[1];
  if (change.ahead !== undefined) next.ahead[change.ahead[0]] = change.ahead[1];
  next.tables = change.tables ?? state.tables;
  for (let slot = 0; slot < 4; slot++) next.workers[slot] = state.workers[slot] ?? -1;
  for (const [slot, worker] of change.workers) next.workers[slot] = worker;
  next.mover = change.mover ?? state.mover;
  next.wire = change.wireChange === undefined ? state.wire : parts.changedWire(state.wire, change.wireChange);
  next.witness =
    change.addition === undefined
      ? (change.witness ?? state.witness)
      : parts.extendedWitness(state.witness, change.addition);
}

/** `canonical`, as hashes of the numbers of forms of parts; `over` has a bit for each text that nothing can change. */
function createForms(settings: Settings, parts: Parts) {
  const texts = new Map<string, number>();
  const numberOf = (text: string) => {
    const found = texts.get(text) ?? texts.size;
    texts.set(text, found);
    return found;
  };
  const rowForms = createMemo();
  const workerForms = createMemo();
  const seenForms = createMemo();
  const namesOf = [0, 1, 2, 3].map((over) => textNames.filter((_, index) => over & (1 << index)));
  const slots = Array.from({ length: settings.nodes * 2 }, (_, slot) => slot);
  const form = new Int32Array(10);
  const made = { hashes: [0, 0] as [number, number], over: 0 };

  function overIn({ tables, workers, mover }: Numbered): number {
    let over = parts.factsOfTables(tables).done;
    for (const slot of slots) over &= ~parts.factsOfWorker(workers[slot] ?? 0).named;
    const moving = parts.movers.at(mover);
    if (moving !== null) for (const name of moving.names) over &= ~(1 << textNames.indexOf(name));
    return over;
  }

  /** Of the tables, the form depends on the index of the worker's claim, and on the attempts of the records. */
  function workerForm(worker: number, tables: number, over: number): number {
    const { forms, claims, attempts } = parts.factsOfTables(tables);
    const index = claims.indexes.get(parts.factsOfWorker(worker).claimId) ?? -1;
    const known = workerForms.find(worker, attempts, over | ((index + 1) << 2));
    if (known >= 0) return known;
    const names = namesOf[over] ?? [];
    return workerForms.keep(numberOf(`w${workerFormIn(parts.workers.at(worker), { claims, over: names, forms })}`));
  }

  function rowForm(tables: number, over: number): number {
    const known = rowForms.find(tables, over, 0);
    if (known >= 0) return known;
    const { forms, claims } = parts.factsOfTables(tables);
    return rowForms.keep(numberOf(`r${forms.tables(parts.tables.at(tables), namesOf[over] ?? [])}${claims.form}`));
  }

  function witnessForm(wire: number, witness: number, over: number): number {
    const known = seenForms.find(wire, witness, over);
    if (known >= 0) return known;
    const seen = { wire: parts.wires.at(wire), witness: parts.witnesses.at(witness) };
    return seenForms.keep(numberOf(`s${seenForm(seen, namesOf[over] ?? [], false)}`));
  }

  return (state: Numbered): { hashes: [number, number]; over: number } => {
    const { tick, faults, ahead, tables, workers, mover, wire, witness } = state;
    const over = overIn(state);
    form[0] = tick | (faults << 4);
    form[1] = rowForm(tables, over);
    form[2] = mover;
    form[3] = witnessForm(wire, witness, over);
    for (let node = 0; node < settings.nodes; node++) {
      form[4 + node * 3] = ahead[node] ?? 0;
      form[5 + node * 3] = workerForm(workers[node * 2] ?? 0, tables, over);
      form[6 + node * 3] = workerForm(workers[node * 2 + 1] ?? 0, tables, over);
    }
    if (settings.nodes === 2) sortNodes(form);
    made.hashes[0] = hashTuple(form, width, 0);
    made.hashes[1] = hashTuple(form, width, 0x5bd1e995);
    made.over = over;
    return made;
  };
}

/** It does not matter which node is which. */
function sortNodes(form: Int32Array): void {
  for (let at = 4; at < 7; at++) {
    const [one = 0, other = 0] = [form[at], form[at + 3]];
    if (one === other) continue;
    if (one < other) return;
    for (let swapped = 4; swapped < 7; swapped++) {
      const kept = form[swapped] ?? 0;
      form[swapped] = form[swapped + 3] ?? 0;
      form[swapped + 3] = kept;
    }
    return;
  }
}

/** Numbers by three others. `find` returns -1 for what `keep` is to follow. */
function createMemo() {
  const known = createTuples(3);
  const values = createNumbers();
  const key = new Int32Array(3);
  return {
    find(one: number, two: number, three: number): number {
      key[0] = one;
      key[1] = two;
      key[2] = three;
      const index = known.numberOf(key);
      return index < values.length ? values.at(index) : -1;
    },
    keep(value: number): number {
      values.push(value);
      return value;
    },
  };
}

function createInvariants(settings: Settings, parts: Parts) {
  const known = createTuples(4);
  const broken = new Map<number, string>();
  const key = new Int32Array(4);
  return ({ tick, tables, wire, witness }: Numbered): string | undefined => {
    key[0] = tick;
    key[1] = tables;
    key[2] = wire;
    key[3] = witness;
    const size = known.size;
    const index = known.numberOf(key);
    if (index === size) {
      const message = brokenIn(settings, {
        tick,
        tables: parts.tables.at(tables),
        wire: parts.wires.at(wire),
        witness: parts.witnesses.at(witness),
      });
      if (message !== undefined) broken.set(index, message);
    }
    return broken.size === 0 ? undefined : broken.get(index);
  };
}
