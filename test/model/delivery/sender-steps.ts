import { resultsOf, submittedText } from './decisions.ts';
import type { HandedText, ModelStep, Settings, State, Worker } from './state.ts';
import { withTables } from './state.ts';
import { statements } from './statements.ts';
import { carrierIdOf, nameOf, type TextName } from './texts.ts';
import { type At, change, may, spent } from './worker-steps.ts';

const readPart = (waiting: string) => {
  const [name, part] = waiting.split('/');
  return { name: name as TextName, part: Number(part) };
};

/** The text that a part belongs to: it is at the sender, or was recorded in doubt. */
function textOf({ texts, late }: Worker, name: TextName): HandedText | undefined {
  return [...texts, ...late].find(({ claimed }) => nameOf(claimed.entry) === name);
}

function withText(worker: Worker, text: HandedText, changes: Partial<HandedText>): Partial<Worker> {
  const replace = (each: HandedText) => (each === text ? { ...text, ...changes } : each);
  return { texts: worker.texts.map(replace), late: worker.late.map(replace) };
}

const onWire = (state: State, id: string): State => ({ ...state, wire: [...state.wire, id].sort() });
const offWire = (state: State, id: string): State => ({ ...state, wire: state.wire.filter((each) => each !== id) });

/**
 * `sendNext` in smpp-sender.ts. The window has one place. Taking a part and writing it are one step: a connection that
 * ends between the two gives the part back, as one that ends before both does.
 */
export function submitSteps({ defects = [] }: Settings, state: State, at: At): ModelStep[] {
  const { worker, carrier, who } = at;
  const [first, ...queue] = worker.queue;
  if (first === undefined || worker.flight !== '' || !worker.isUp) return [];
  const { name, part } = readPart(first);
  const text = textOf(worker, name);
  if (text === undefined) return [];
  const isOverdue = state.tick > worker.begunTick && !defects.includes('overdue parts');
  if (submittedText(text, carrier).isRefused || isOverdue) {
    const next = change(state, at, { queue, ...withText(worker, text, { events: `${text.events}U${part}` }) });
    return [{ name: `${who}: gives part ${part} of ${name} back unsent`, next }];
  }
  const { entry } = text.claimed;
  const sent = onWire(state, carrierIdOf(name, carrier, entry.attempt + 1, part));
  const { submitted, unclaimed } = state.witness;
  const isClaimed = state.tables.claims.some(
    ({ id, entries }) => id === worker.claim.id && entries.some(({ messageId }) => messageId === name),
  );
  const witness = {
    ...state.witness,
    submitted: submitted.includes(name) ? submitted : [...submitted, name].sort(),
    unclaimed: isClaimed ? unclaimed : name,
  };
  const next = { ...change(sent, at, { queue, flight: first }), witness };
  return [{ name: `${who}: submits part ${part} of ${name}`, next }];
}

const answers = { A: 'accepts', R: 'refuses', T: 'throttles', S: 'is silent about' } as const;

/** `settle` in smpp-sender.ts: what became of the submit in the window. */
export function answerSteps(settings: Settings, state: State, at: At): ModelStep[] {
  const { worker, carrier } = at;
  if (worker.flight === '') return [];
  const { name, part } = readPart(worker.flight);
  const text = textOf(worker, name);
  if (text === undefined) return [];
  const id = carrierIdOf(name, carrier, text.claimed.entry.attempt + 1, part);
  const steps = (['A', 'R', 'T', 'S'] as const).flatMap((event): ModelStep[] => {
    if (event === 'S' && !may(settings, state, 'silence')) return [];
    const silent = event === 'S' ? [...text.silent, part] : text.silent;
    const noted = withText(worker, text, { events: `${text.events}${event}${part}`, silent });
    const after = change(state, at, { flight: '', ...noted });
    const next = event === 'S' ? spent(after) : event === 'A' ? after : offWire(after, id);
    return [{ name: `carrier ${carrier} ${answers[event]} part ${part} of ${name}`, next }];
  });
  // After a short pause a throttled part is sent again within its claim.
  const back = offWire(change(state, at, { flight: '', queue: [worker.flight, ...worker.queue] }), id);
  steps.push({ name: `carrier ${carrier} puts off part ${part} of ${name}`, next: back });
  return steps;
}

/** An answer to a submit that was given up: it settles the text in memory, or its rows, and never submits. */
export function lateSteps({ defects = [] }: Settings, state: State, at: At): ModelStep[] {
  const { worker, carrier } = at;
  return [...worker.texts, ...worker.late].flatMap((text) =>
    text.silent.flatMap((part) =>
      (['A', 'R', 'T'] as const).flatMap((event): ModelStep[] => {
        const entryName = nameOf(text.claimed.entry);
        const name = `carrier ${carrier} ${answers[event]} part ${part} of ${entryName} late`;
        const id = carrierIdOf(entryName, carrier, text.claimed.entry.attempt + 1, part);
        const known = event === 'A' ? state : offWire(state, id);
        const silent = text.silent.filter((each) => each !== part);
        if (event === 'T' && defects.includes('late submit')) {
          const queue = [`${entryName}/${part}`, ...worker.queue];
          return [{ name, next: change(known, at, { queue, ...withText(worker, text, { silent }) }) }];
        }
        const events = `${text.events}${event}${part}`;
        if (worker.texts.includes(text))
          return [{ name, next: change(known, at, withText(worker, text, { events, silent })) }];
        // The doubt is on disk first.
        return worker.writing === undefined ? [recordLate(known, at, text, { events, silent }, name)] : [];
      }),
    ),
  );
}

/** `onLate` in submission.ts. If the transaction fails, the answer might as well not have come. */
function recordLate(
  state: State,
  at: At,
  text: HandedText,
  changes: Omit<HandedText, 'claimed'>,
  name: string,
): ModelStep {
  const { worker, carrier, nowMs } = at;
  const kept = worker.late.filter((each) => each !== text);
  const late = changes.silent.length === 0 ? kept : [...kept, { ...text, ...changes }];
  const { answer } = submittedText({ ...text, ...changes }, carrier);
  const noted = change(state, at, { late });
  if (answer === undefined || answer.outcome === 'in_doubt') return { name, next: noted };
  const given = { carrier, ...resultsOf(state, carrier, nowMs, [[text.claimed, answer]]) };
  const next = withTables(noted, statements.recordLateAnswers(state.tables, given));
  return { name, next, ran: { statement: 'recordLateAnswers', given } };
}

/** The connection ends: what was written is in doubt, what was not goes back, and no more answers come. */
export function connectionSteps(settings: Settings, state: State, at: At): ModelStep[] {
  const { worker, who } = at;
  if (!worker.isUp) return [{ name: `${who}: connects`, next: change(state, at, { isUp: true }) }];
  if (!may(settings, state, 'disconnect')) return [];
  const unsent = worker.queue.map(readPart);
  const flight = worker.flight === '' ? undefined : readPart(worker.flight);
  const texts = worker.texts.map((text): HandedText => {
    const name = nameOf(text.claimed.entry);
    const doubts = flight?.name === name ? `D${flight.part}` : '';
    const backs = unsent.filter((each) => each.name === name).map(({ part }) => `U${part}`);
    return { ...text, events: `${text.events}${doubts}${backs.join('')}`, silent: [] };
  });
  const next = spent(change(state, at, { isUp: false, texts, queue: [], flight: '', late: [] }));
  const when = flight === undefined ? '' : ' after the write';
  return [{ name: `${who}: the connection ends${when}`, next }];
}
