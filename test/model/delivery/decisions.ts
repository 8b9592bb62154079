import type { ClaimedText } from '../../../src/delivery/attempts/queued-text.ts';
import { type AttemptResult, attemptResultOf, type ResultOptions } from '../../../src/delivery/attempts/result.ts';
import { createTextSelection } from '../../../src/delivery/attempts/selection.ts';
import type { Carrier, OutgoingText, SubmitResult } from '../../../src/delivery/carrier/carrier.ts';
import { type CarriersNow, findNextCarrier, type NextCarrier } from '../../../src/delivery/routing/next-carrier.ts';
import type { RouteTable } from '../../../src/delivery/routing/table.ts';
import { createSubmittedText } from '../../../src/delivery/smpp/submitted-text.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import type { Log } from '../../../src/platform/log.ts';
import type { Results } from './result-statements.ts';
import type { HandedText, Settings, State } from './state.ts';
import { type CarrierName, carrierIdOf, carrierNames, nameOf, partsOf, toTickMs } from './texts.ts';

/** Codes fail over from `a` to `b`, and plain texts after a while. */
const table: RouteTable = {
  version: 1,
  routes: [
    {
      name: 'all',
      match: {},
      carriers: [{ carrier: 'a', weight: 1 }],
      failover: ['b'],
      failover_bulk: { per_minute: 60 },
      from: null,
      hours: null,
    },
  ],
};

/** How long a plain text in doubt waits for a receipt. */
export const doubtAfterMs = 60_000;
/** A carrier that wants fewer texts wants them later than a code waits. */
const throttledMs = 60_000;

export function canSend({ tables, nodes }: State, carrier: CarrierName): boolean {
  const index = carrierNames.indexOf(carrier);
  return !tables.paused.includes(carrier) && nodes.some(({ workers }) => workers[index]?.isUp);
}

/** The real choice of a route, `findNextCarrier` in next-carrier.ts; its answers are kept, since most states ask the same. */
export function nextCarrierOf(state: State, { message }: Pick<ClaimedText, 'message'>, from: CarrierName) {
  const able = carrierNames.map((name) => canSend(state, name));
  const asked = `${message.id} ${from} ${able.join()} ${state.tables.paused.join()}`;
  if (chosen.has(asked)) return chosen.get(asked);
  const health: CarriersNow['health'] = carrierNames.map((name, index) => ({
    key: name,
    name,
    paused: state.tables.paused.includes(name),
    up: able[index] ?? false,
    open: [],
  }));
  const about = { environment: 'production', table, health, countryOf: () => undefined, nowMs: 0 } as const;
  const next = findNextCarrier(message, from, about);
  chosen.set(asked, next);
  return next;
}

const chosen = new Map<string, NextCarrier | undefined>();

/** What `createTextSelection` in text-selection.ts decides of a claim: the real one, on the model's clocks. */
export function selectTexts(
  { onDoubt }: Settings,
  state: State,
  {
    carrier,
    texts,
    nowMs,
    begunTick,
  }: { carrier: CarrierName; texts: ClaimedText[]; nowMs: number; begunTick: number },
): { sending: ClaimedText[]; results: Results } {
  const selection = createTextSelection({
    clock: { nowMs: () => nowMs, steadyMs: () => state.tick } as Clock,
    log: silentLog,
    carrier: { key: carrier } as Carrier,
    renderText: () => 'text',
    findPending: () => Promise.resolve(new Set()),
    nextCarrier: (text) => nextCarrierOf(state, text, carrier),
    isAtMostOnce: () => onDoubt === 'hold',
  });
  const claim = { id: 0, revision: 0, claimedAtMs: nowMs, texts, optOuts: false };
  const over = new Set(state.tables.pending ? [] : ['verification']);
  const { sending, results } = selection.select(claim, over, begunTick + 1);
  return { sending: sending.map(({ claimed }) => claimed), results: inTicks(results) };
}

const silentLog = { error() {}, warn() {}, info() {}, debug() {} } as unknown as Log;

function inTicks({ ended, again }: Results): Results {
  return { ended, again: again.map((text) => ({ ...text, dueAtMs: toTickMs(text.dueAtMs) })) };
}

/** `attemptResultOf` for each answer, as `toResults` in submission.ts calls it. */
export function resultsOf(
  state: State,
  carrier: CarrierName,
  nowMs: number,
  answers: readonly (readonly [ClaimedText, SubmitResult])[],
): Results {
  const options: ResultOptions = {
    nowMs,
    submittedAtMs: nowMs,
    carrier,
    nextCarrier: (text): NextCarrier | undefined => nextCarrierOf(state, text, carrier),
    isDown: () => !canSend(state, carrier),
    isClosed: false,
    doubtAfterMs,
    mayCopy: () => true,
  };
  const results = answers.map(([claimed, answer]): AttemptResult => attemptResultOf(claimed, answer, options));
  return inTicks({
    ended: results.flatMap((result) => ('ended' in result ? [result.ended] : [])),
    again: results.flatMap((result) => ('again' in result ? [result.again] : [])),
  });
}

export interface Submitted {
  answer: SubmitResult | undefined;
  partsToSend: readonly number[];
  isRefused: boolean;
}

const submittedTexts = new WeakMap<object, Submitted>();

/** The parts that the sender is to send, and what it makes of the answers so far: the real submitted-text.ts. */
export function submittedText(text: Pick<HandedText, 'claimed' | 'events'>, carrier: CarrierName): Submitted {
  const found = submittedTexts.get(text) ?? replay(text, carrier);
  submittedTexts.set(text, found);
  return found;
}

function replay({ claimed, events }: Pick<HandedText, 'claimed' | 'events'>, carrier: CarrierName): Submitted {
  let answer: SubmitResult | undefined;
  const { entry, parts } = claimed;
  const total = partsOf[nameOf(entry)];
  const options = {
    text: { parts } as OutgoingText,
    index: 0,
    total,
    form: 'form',
    needed: total,
    answer(_index: number, result: SubmitResult) {
      answer = result;
    },
    progress() {},
    onAnswered() {},
  };
  const submitted = createSubmittedText(options);
  for (let index = 0; index < events.length; index += 2) {
    const part = Number(events[index + 1]);
    const id = carrierIdOf(nameOf(entry), carrier, entry.attempt + 1, part);
    switch (events[index]) {
      case 'A':
        submitted.noteAccepted(part, id, id);
        break;
      case 'R':
        submitted.noteRefused(part, { outcome: 'retry', error: 'blocked_by_carrier', elsewhere: true });
        break;
      case 'T':
        submitted.noteRefused(part, { outcome: 'throttled', afterMs: throttledMs });
        break;
      case 'U':
        submitted.noteUnsent(part);
        break;
      default:
        submitted.noteInDoubt(part, events[index] === 'S');
    }
  }
  return { answer, partsToSend: submitted.partsToSend, isRefused: submitted.isRefused() };
}
