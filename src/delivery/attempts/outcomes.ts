import type { Clock } from '../../platform/clock.ts';
import { createBreaker } from '../carrier/breaker.ts';
import type { SubmitResult } from '../carrier/carrier.ts';
import { createCopyBudget } from '../carrier/copy-budget.ts';
import type { ClaimedText } from './queued-text.ts';

/** A carrier's health, as the answers to its texts show it. */
export interface CarrierOutcomes {
  /** False while texts to this number's country do not get through, except for an occasional probe. */
  admits(text: ClaimedText): boolean;
  /** How long a text that is not admitted waits. */
  restMs(text: ClaimedText): number;
  /** Notes the answer to a text; undefined if there was none. */
  note(text: ClaimedText, answer: SubmitResult | undefined): void;
  /** A text has had no answer for 5 s. */
  noteUnanswered(text: ClaimedText): void;
  /** Whether a code that the carrier does not answer may be sent a second time. */
  mayCopy(text: ClaimedText): boolean;
  /** The countries whose texts should go elsewhere; `*` for all. */
  open(): string[];
}

export interface CarrierOutcomesOptions {
  clock: Clock;
  countryOf: (to: string) => string | undefined;
  /** The open countries have changed. */
  onChange?: () => void;
}

const watchMs = 60_000;
const mostRemembered = 1000;

export function createCarrierOutcomes({ clock, countryOf, onChange }: CarrierOutcomesOptions): CarrierOutcomes {
  const breaker = createBreaker(clock);
  const copies = createCopyBudget();
  const country = ({ message }: ClaimedText) => countryOf(message.to) ?? '';
  /** Finding a number's country can take longer than all the rest, so texts that got through are counted by country only
   * when some do not. */
  let watchedUntilMs = Number.NEGATIVE_INFINITY;
  /** The numbers of the last texts that got through, oldest first from `index`. */
  let remembered: { to: string; atMs: number }[] = [];
  let index = 0;

  function remember(to: string): void {
    remembered[index] = { to, atMs: clock.steadyMs() };
    index = (index + 1) % mostRemembered;
  }

  function watch(): void {
    const nowMs = clock.steadyMs();
    const recent = nowMs < watchedUntilMs ? [] : remembered.filter(({ atMs }) => atMs > nowMs - watchMs);
    watchedUntilMs = nowMs + watchMs;
    if (recent.length === 0) return;
    remembered = [];
    index = 0;
    for (const { to } of recent) breaker.note(countryOf(to) ?? '', 'works');
  }

  function change(act: () => void): void {
    const before = breaker.isAnyOpen;
    act();
    if (breaker.isAnyOpen !== before) onChange?.();
  }

  function noteResult(text: ClaimedText, result: AnswerMeaning): void {
    if (result === 'says_nothing') return;
    if (result === 'account') change(breaker.openAll);
    else if (result === 'works') {
      if (!breaker.isAnyOpen && clock.steadyMs() >= watchedUntilMs) remember(text.message.to);
      else change(() => breaker.note(country(text), 'works'));
    } else {
      watch();
      const refusedOf = result === 'refuses' ? text.message.applicationId : undefined;
      change(() => breaker.note(country(text), 'fails', refusedOf));
    }
  }

  return {
    admits: (text) => !breaker.isAnyOpen || breaker.admits(country(text)),
    restMs: (text) => breaker.restMs(country(text)),
    note(text, answer) {
      noteResult(text, meaningOf(answer));
      // `mayCopy` has counted the copies already.
      if (text.message.api === 'verify' && answer?.outcome === 'accepted') copies.note(false);
    },
    noteUnanswered: (text) => noteResult(text, 'fails'),
    mayCopy(text) {
      const may = copies.mayCopy || breaker.isOpen(country(text));
      if (may) copies.note(true);
      return may;
    },
    open: breaker.open,
  };
}

type AnswerMeaning = 'works' | 'fails' | 'refuses' | 'account' | 'says_nothing';

/** A carrier that refuses a number, a sender or a content works: other texts get through. */
function meaningOf(answer: SubmitResult | undefined): AnswerMeaning {
  switch (answer?.outcome) {
    case 'accepted':
    case 'never':
      return 'works';
    case 'throttled':
    case 'not_sent':
      return 'says_nothing';
    case 'retry':
      if (answer.account) return 'account';
      if (answer.error === 'carrier_unavailable') return 'fails';
      return answer.error === 'blocked_by_carrier' || answer.error === 'unknown' ? 'refuses' : 'works';
    default:
      return 'fails';
  }
}
