// Tests: test/parts/delivery-worker.test.ts
import type { Database } from '../../platform/database/database.ts';
import type { WakeableSleep } from '../../platform/work/wakeable-sleep.ts';
import { type NoteAnswers, type NoteEnds, unsentEnds } from '../attempts/answered-text.ts';
import type { Claim, ClaimedText, EndedText } from '../attempts/queued-text.ts';
import { attemptResultOf } from '../attempts/result.ts';
import {
  createTextSelection,
  type OverTexts,
  type Results,
  type SelectionOptions,
  type Sending,
} from '../attempts/selection.ts';
import type { SubmitResult } from '../carrier/carrier.ts';
import type { CarrierHealth } from '../carrier/health.ts';
import { recordLateAnswers } from '../queue/late-answer-store.ts';
import type { ClaimResults } from '../queue/result-statement.ts';
import { createResultWriter, toWritten, type WrittenClaim } from '../queue/result-writer.ts';
import { type AnswerCollector, type Answered as CollectedAnswer, submitAndCollect } from './answer-collector.ts';

export interface SubmissionOptions extends SelectionOptions {
  database: Database;
  health: CarrierHealth;
  sleep: WakeableSleep;
  /** Texts have moved to the queues of these carriers. */
  onMoved?: ((carriers: readonly string[]) => void) | undefined;
  onCount: (name: DeliveryCount, by: number) => void;
  /** Counts what carriers answer. */
  onAnswers?: NoteAnswers | undefined;
  /** Counts texts that end without a carrier. */
  onEnds?: NoteEnds | undefined;
}

export type DeliveryCount =
  | 'submitted'
  | 'possible_duplicates'
  | 'in_doubt'
  | 'failed'
  | 'expired'
  | 'unknown'
  | 'moved';

type Answered = [claimed: ClaimedText | undefined, answer: SubmitResult | undefined];

/** Texts without an answer after this time no longer hold up the others of their batch. */
const patienceMs = 1000;
/** A carrier that works answers within this time. */
const answerWithinMs = 5000;

export function createSubmission(options: SubmissionOptions) {
  const { database, clock, log, carrier, health, onCount, outcomes } = options;
  const { findOver, select, resultOptions } = createTextSelection(options);
  // A closed carrier submits nothing.
  const onAnswers = carrier.isClosed === true ? undefined : options.onAnswers;
  const unfinished = new Set<Promise<void>>();
  const writer = createResultWriter(options);

  /** Hands the texts of a claim to the carrier. Each call of the returned step records what is new. */
  function begin(
    claim: WrittenClaim,
    texts: readonly ClaimedText[],
    sending: Sending[],
    unsent: Results,
  ): () => Promise<boolean> {
    count('submitted', sending.length);
    count('possible_duplicates', sending.filter(({ claimed }) => claimed.entry.inDoubt).length);
    let writing: Promise<void> = Promise.resolve();
    let left = unsent;
    let works = false;
    const submittedAtMs = clock.nowMs();
    const waiting = new Map(sending.map(({ claimed }, index) => [index, claimed]));
    /** Texts that have counted as unanswered. */
    const unanswered = new Set<number>();
    const collector = submitAndCollect({
      clock,
      carrier,
      texts: sending.map(({ text }) => text),
      onLate(index, answer) {
        const claimed = sending[index]?.claimed;
        if (claimed === undefined) return;
        onAnswers?.(carrier.key, [{ claimed, answer, tookMs: undefined, isLate: true }]);
        // A late answer settles a text that was not sent again. Waits for `writing`, so that the doubt is recorded first.
        writing
          .then(() => database.transaction((tx) => recordLateAnswers(tx, late(claimed, answer, submittedAtMs))))
          .then(({ moved, settled }) => {
            noteEnds([claimed], settled);
            count('moved', moved.length);
            if (moved.length > 0) options.onMoved?.(moved);
          })
          .catch(() => {});
      },
      onThrottled(index, reported) {
        const claimed = waiting.get(index);
        const answer = { outcome: 'throttled', reported } as const;
        if (claimed !== undefined) onAnswers?.(carrier.key, [{ claimed, answer, tookMs: undefined, isLate: false }]);
      },
      onFailure: ({ message: reason }) =>
        log.warn({ carrier: carrier.key, texts: waiting.size, reason }, 'the carrier did not answer a submit'),
    });

    return async () => {
      const { answers, done } = await collector.collect(patienceMs);
      works ||= answers.some(([, answer]) => isOfWorkingCarrier(answer));
      if (!carrier.watchesItself) health.note(works);
      onAnswers?.(
        carrier.key,
        answers.flatMap(([index, answer, tookMs, answeredAtMs]) => {
          const claimed = waiting.get(index);
          return claimed === undefined ? [] : [{ claimed, answer, tookMs, answeredAtMs, isLate: false }];
        }),
      );
      noteOutcomes(answers, waiting, unanswered);
      const answered = answers.map(([index, answer]): Answered => [waiting.get(index), answer]);
      const results = add(left, toResults(answered, submittedAtMs));
      for (const [index] of answers) waiting.delete(index);
      if (!done) noteSilence(waiting, unanswered, collector.writtenMs);
      left = { ended: [], again: [] };
      if (!done && results.ended.length + results.again.length === 0) return false;
      countResults(results, texts);
      writing = write(claim, results, done ? [] : [...waiting.values()]);
      await writing;
      return done;
    };
  }

  function noteOutcomes(answers: CollectedAnswer[], waiting: Map<number, ClaimedText>, unanswered: Set<number>): void {
    if (outcomes === undefined) return;
    for (const [index, answer] of answers) {
      const claimed = waiting.get(index);
      const isNoted = unanswered.has(index) && (answer === undefined || answer.outcome === 'in_doubt');
      if (claimed !== undefined && !isNoted) outcomes.note(claimed, answer);
    }
  }

  /** A carrier that never answers also never fails, so its silence counts from the write on, unless it throttles. */
  function noteSilence(
    waiting: Map<number, ClaimedText>,
    unanswered: Set<number>,
    writtenMs: AnswerCollector['writtenMs'],
  ): void {
    if (outcomes === undefined || (carrier.throttledMs?.() ?? 0) > 0) return;
    const beforeMs = clock.steadyMs() - answerWithinMs;
    for (const [index, claimed] of waiting) {
      const atMs = writtenMs(index);
      if (unanswered.has(index) || atMs === undefined || atMs > beforeMs) continue;
      unanswered.add(index);
      outcomes.noteUnanswered(claimed);
    }
  }

  function toResults(answers: Answered[], submittedAtMs: number): Results {
    const results: Results = { ended: [], again: [] };
    const given = resultOptions(submittedAtMs);
    for (const [claimed, answer] of answers) {
      if (claimed === undefined) continue;
      const result = attemptResultOf(claimed, answer, given);
      if ('ended' in result) results.ended.push(result.ended);
      else results.again.push(result.again);
    }
    return results;
  }

  function late(claimed: ClaimedText, answer: SubmitResult, submittedAtMs: number): ClaimResults {
    if (answer.outcome === 'in_doubt') return recorded({ ended: [], again: [] });
    return recorded(toResults([[claimed, answer]], submittedAtMs));
  }

  const recorded = ({ ended, again }: Results): ClaimResults => ({
    carrier: carrier.key,
    account: carrier.repeatsMessageId ? undefined : carrier.account,
    ended,
    again,
    nowMs: clock.nowMs(),
  });

  async function write(claim: WrittenClaim, results: Results, remaining: ClaimedText[]): Promise<void> {
    const kept = remaining.map(({ entry }) => entry);
    await writer.write(claim, recorded(results), kept);
    const moved = results.again.filter(({ isMoved }) => isMoved);
    if (moved.length > 0) options.onMoved?.([...new Set(moved.map((each) => each.carrier))]);
  }

  function count(name: DeliveryCount, by: number): void {
    if (by > 0) onCount(name, by);
  }

  function noteEnds(texts: readonly ClaimedText[], ended: readonly EndedText[]): void {
    const ends = unsentEnds(texts, ended);
    if (ends.length > 0) options.onEnds?.(carrier.key, ends);
  }

  function countResults({ ended, again }: Results, texts: readonly ClaimedText[]): void {
    noteEnds(texts, ended);
    for (const status of ['failed', 'expired', 'unknown'] as const) {
      count(status, ended.filter((each) => each.status === status).length);
    }
    count('in_doubt', again.filter(({ entry }) => entry.inDoubt).length);
    count('moved', again.filter(({ isMoved }) => isMoved).length);
  }

  /** Continues in the background with texts that the carrier is slow to answer. */
  function goOn(step: () => Promise<boolean>): void {
    const going = (async () => {
      while (!(await step()));
    })();
    const tracked = going
      .catch(({ message: reason }: Error) => log.warn({ carrier: carrier.key, reason }, 'results were not recorded'))
      .finally(() => unfinished.delete(tracked));
    unfinished.add(tracked);
  }

  return {
    /** True while the database rejects results: further claims would only pile up unrecorded. */
    get held(): boolean {
      return writer.held;
    },
    /**
     * The verifications that no longer need a code: `run` cancels their texts. And the texts that recipients do not want:
     * `run` fails them.
     */
    findOver,
    /**
     * Submits a claim to the carrier and records each result. Submits nothing after `beginBeforeMs` (steady time). Resolves
     * when most results are recorded: texts that the carrier is slow to answer hold up no others.
     */
    async run(claim: Claim, over: OverTexts, beginBeforeMs: number): Promise<void> {
      const { sending, results } = select(claim, over, beginBeforeMs);
      const written = toWritten(claim);
      if (sending.length === 0) {
        countResults(results, claim.texts);
        await write(written, results, []);
        return;
      }
      const step = begin(written, claim.texts, sending, results);
      if (!(await step())) goOn(step);
    },
    /** Resolves when the carrier has answered everything, and the results are recorded. */
    async finished(): Promise<void> {
      await Promise.all(unfinished);
    },
  };
}

function add(a: Results, b: Results): Results {
  return { ended: [...a.ended, ...b.ended], again: [...a.again, ...b.again] };
}

function isOfWorkingCarrier(answer: SubmitResult | undefined): boolean {
  if (answer === undefined || answer.outcome === 'in_doubt') return false;
  return answer.outcome !== 'retry' || answer.error !== 'carrier_unavailable';
}
