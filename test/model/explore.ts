import { createNumbers, type Numbers } from './numbers.ts';
import { createSeenStates } from './seen-states.ts';

/** A step that is possible in a state. */
export interface Step<State> {
  name: string;
  next: State;
}

export interface ExploreOptions<State> {
  initial: readonly State[];
  /** Every step that is possible now. */
  steps: (state: State) => readonly Step<State>[];
  /** Two states with the same form have the same future. */
  canonical: (state: State) => string;
  /** What is wrong with a state; undefined if nothing is. */
  invariants: (state: State) => string | undefined;
  /** States in which a run may end. From every state one of them must be within reach. */
  isEnd?: (state: State) => boolean;
  /** Stops a model that grew by mistake. */
  mostStates?: number;
}

export interface Violation {
  /** The names of the steps from an initial state: no shorter run breaks an invariant. */
  run: string[];
  message: string;
}

export interface Explored {
  states: number;
  /** Of the longest of all shortest runs. */
  depth: number;
  violation?: Violation;
}

/** Visits every state, breadth first, so that the first violation has the shortest run. */
export function explore<State>(options: ExploreOptions<State>): Explored {
  const { steps, canonical, invariants, isEnd = () => false, mostStates = 20_000_000 } = options;
  const seen = createSeenStates();
  /** By the number of a state: the state before it, and the step between the two. */
  const parents = createNumbers();
  const stepsBefore = createNumbers();
  const names = createNames();
  const edges = { from: createNumbers(), to: createNumbers() };
  const ends: number[] = [];
  let depth = 0;

  function runTo(index: number): string[] {
    const run: string[] = [];
    for (let at = index; parents.at(at) >= 0; at = parents.at(at)) run.push(names.nameOf(stepsBefore.at(at)));
    return run.reverse();
  }

  let level: { state: State; index: number }[] = [];
  let nextLevel: typeof level = [];
  let found: Violation | undefined;

  /** Returns the number of the state. */
  function visit(state: State, parent: number, name: string): number {
    const { index, isNew } = seen.add(canonical(state));
    if (!isNew) return index;
    parents.push(parent);
    stepsBefore.push(names.numberOf(name));
    if (isEnd(state)) ends.push(index);
    const message = invariants(state);
    if (message !== undefined) found ??= { run: runTo(index), message };
    nextLevel.push({ state, index });
    if (index > mostStates) throw new Error(`there are more than ${mostStates} states`);
    return index;
  }

  for (const state of options.initial) visit(state, -1, '');
  while (nextLevel.length > 0 && found === undefined) {
    level = nextLevel;
    nextLevel = [];
    for (const { state, index } of level) {
      for (const { name, next } of steps(state)) {
        const to = visit(next, index, name);
        if (options.isEnd !== undefined) {
          edges.from.push(index);
          edges.to.push(to);
        }
      }
    }
    if (nextLevel.length > 0) depth++;
  }
  if (options.isEnd !== undefined) found ??= findStuck(seen.size, edges, ends, runTo);
  return { states: seen.size, depth, ...(found && { violation: found }) };
}

/** Steps have few names, and states are many. */
function createNames() {
  const numbers = new Map<string, number>();
  const names: string[] = [];
  return {
    numberOf(name: string): number {
      const found = numbers.get(name);
      if (found !== undefined) return found;
      numbers.set(name, names.length);
      return names.push(name) - 1;
    },
    nameOf: (number: number) => names[number] ?? '',
  };
}

/** The first state from which no run comes to an end: the work in it would go on, or wait, for ever. */
function findStuck(
  states: number,
  { from, to }: { from: Numbers; to: Numbers },
  ends: number[],
  runTo: (index: number) => string[],
): Violation | undefined {
  /** The states before a state are `before`, from its place in `firsts` up to the next one's. */
  const firsts = new Int32Array(states + 1);
  const count = (index: number) => firsts[index] ?? 0;
  for (let edge = 0; edge < to.length; edge++) firsts[to.at(edge) + 1] = count(to.at(edge) + 1) + 1;
  for (let index = 0; index < states; index++) firsts[index + 1] = count(index + 1) + count(index);
  const filled = firsts.slice();
  const before = new Int32Array(to.length);
  for (let edge = 0; edge < to.length; edge++) {
    const index = to.at(edge);
    const slot = filled[index] ?? 0;
    before[slot] = from.at(edge);
    filled[index] = slot + 1;
  }
  const reaches = new Uint8Array(states);
  const open = [...ends];
  for (const index of ends) reaches[index] = 1;
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    for (let slot = count(index); slot < count(index + 1); slot++) {
      const earlier = before[slot] ?? 0;
      if (reaches[earlier] === 1) continue;
      reaches[earlier] = 1;
      open.push(earlier);
    }
  }
  const stuck = reaches.indexOf(0);
  return stuck < 0 ? undefined : { run: runTo(stuck), message: 'no run from here comes to an end' };
}
