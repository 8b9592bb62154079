import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inShort } from '../support/effort.ts';
import { canonical } from './delivery/canonical.ts';
import { brokenIn } from './delivery/invariants.ts';
import { mayReport, stepsOf } from './delivery/model.ts';
import { initialState, type Settings, type State } from './delivery/state.ts';

const plain: Settings = { nodes: 1, texts: ['code'], onDoubt: 'resend', mostFaults: 1, mostReceipts: 0 };

const short: Record<string, Partial<Settings>> = {
  'a code': { kinds: ['silence', 'lost answer'] },
  'a long text': { texts: ['long'], mostFaults: 0 },
  'a code and its receipt': { mostReceipts: 1, mostFaults: 0 },
};

const long: Record<string, Partial<Settings>> = {
  ...short,
  'a code': { kinds: ['silence', 'lost answer', 'death'] },
  'two nodes, a code': { nodes: 2 },
  'a long text, a fault': { texts: ['long'] },
  'a long text, two faults': { texts: ['long'], mostFaults: 2 },
  'both texts': { texts: ['code', 'long'], mostFaults: 0 },
  'both texts, silence': { texts: ['code', 'long'], kinds: ['silence'] },
};

/** explore.ts visits one state of each form. This visits every state, and checks whether that was enough. */
describe('states of the same form have the same future', () => {
  for (const [name, changes] of Object.entries(inShort(short, long)))
    test(name, () => {
      const settings = { ...plain, ...changes };
      const futures = new Map<string, string>();
      for (const state of allStates(settings)) {
        const form = formOf(settings, state);
        const future = futureOf(settings, state, form);
        const known = futures.get(form) ?? future;
        futures.set(form, known);
        assert.equal(future, known, form);
      }
    });
});

const formOf = (settings: Settings, state: State) => canonical(state, mayReport(settings, state));

/** What is wrong, and the forms of the next states. */
function futureOf(settings: Settings, state: State, form: string): string {
  const forms = new Set(stepsOf(settings, state).map(({ next }) => formOf(settings, next)));
  forms.delete(form);
  return [brokenIn(settings, state) ?? '', ...[...forms].sort()].join('\n');
}

/** Distinguished by all that they hold. */
function* allStates(settings: Settings): Generator<State> {
  const seen = new Set<string>();
  let open = [initialState(settings)];
  while (open.length > 0) {
    const next: State[] = [];
    for (const state of open) {
      const whole = JSON.stringify(state);
      if (seen.has(whole)) continue;
      seen.add(whole);
      yield state;
      for (const step of stepsOf(settings, state)) next.push(step.next);
    }
    open = next;
  }
}
