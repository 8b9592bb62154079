import { createNumbers } from './numbers.ts';
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
  const edges = createEdges();
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
      edges.begin(index);
      for (const { name, next } of steps(state)) edges.add(visit(next, index, name));
    }
    if (nextLevel.length > 0) depth++;
  }
  if (options.isEnd !== undefined) found ??= findStuck(seen.size, edges, ends, runTo);
  return { states: seen.size, depth, ...(found && { violation: found }) };
}

/** Steps have few names, and states are many. */
export function createNames() {
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

/** The steps between states, by the state that they begin in. */
export interface Edges {
  /** The edges that follow lead from this state. */
  begin(from: number): void;
  add(to: number): void;
  /** Calls back for every state that was begun, the last one first. */
  eachBackwards(visit: (from: number, leads: (fits: (to: number) => boolean) => boolean) => void): void;
}

export function createEdges(): Edges {
  const sources = createNumbers();
  const firsts = createNumbers();
  const targets = createNumbers();
  return {
    begin(from) {
      sources.push(from);
      firsts.push(targets.length);
    },
    add: targets.push,
    eachBackwards(visit) {
      let end = targets.length;
      for (let at = sources.length - 1; at >= 0; at--) {
        const first = firsts.at(at);
        const last = end;
        visit(sources.at(at), (fits) => {
          for (let edge = first; edge < last; edge++) if (fits(targets.at(edge))) return true;
          return false;
        });
        end = first;
      }
    },
  };
}

/** The first state from which no run comes to an end: the work in it would go on, or wait, for ever. */
export function findStuck(
  states: number,
  edges: Edges,
  ends: Iterable<number>,
  runTo: (index: number) => string[],
): Violation | undefined {
  const reaches = new Uint8Array(states);
  for (const index of ends) reaches[index] = 1;
  // Most steps lead to a state that was found later: few passes are enough.
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    edges.eachBackwards((from, leads) => {
      if (reaches[from] === 1 || !leads((to) => reaches[to] === 1)) return;
      reaches[from] = 1;
      isChanged = true;
    });
  }
  const stuck = reaches.indexOf(0);
  return stuck < 0 ? undefined : { run: runTo(stuck), message: 'no run from here comes to an end' };
}
