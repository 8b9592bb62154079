import { laneNames, unsentStatuses } from '../messages/message.ts';
import type { TextToSend } from '../messages/text-to-send.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { ApiError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { WakeableSleep } from '../platform/wakeable-sleep.ts';
import { submitAndCollect } from './answer-collector.ts';
import type { NoteAnswers } from './answered-text.ts';
import { actionFor, attemptResultOf, notSubmitted } from './attempt-result.ts';
import type { Carrier, OutgoingText, SubmitResult } from './carrier.ts';
import type { CarrierHealth } from './carrier-health.ts';
import type { Claim, ClaimedText, EndedText, ScheduledText } from './queue-entry.ts';
import { recordClaim, recordLateAnswers } from './result-store.ts';

export interface SubmissionOptions {
  database: Database;
  clock: Clock;
  log: Log;
  carrier: Carrier;
  health: CarrierHealth;
  sleep: WakeableSleep;
  renderText: (text: TextToSend) => string;
  /** Of these verifications, those that still need their code. */
  findPending: (verificationIds: string[]) => Promise<Set<string>>;
  /** Of these texts, the ids of those that their recipients do not want. */
  findUnwanted?: ((texts: TextToSend[]) => Promise<ReadonlySet<string>>) | undefined;
  /** Another carrier that works; undefined if there is none. */
  nextCarrier: () => string | undefined;
  atMostOnce: boolean;
  onCount: (name: DeliveryCount, by: number) => void;
  /** Counts what carriers answer. */
  onAnswers?: NoteAnswers | undefined;
}

export type DeliveryCount =
  | 'submitted'
  | 'possible_duplicates'
  | 'in_doubt'
  | 'failed'
  | 'expired'
  | 'unknown'
  | 'moved';

export interface Submission {
  /**
   * Submits a claim to the carrier and records each result. Submits nothing after `beginBeforeMs` (steady time). Resolves
   * when most results are recorded: texts that the carrier is slow to answer hold up no others.
   */
  run(claim: Claim, over: Set<string>, beginBeforeMs: number): Promise<void>;
  /**
   * The verifications of these texts that no longer need a code: `run` cancels their texts. And the texts that their
   * recipients do not want: `run` fails them.
   */
  findOver(claim: Claim): Promise<Set<string>>;
  /** Resolves when the carrier has answered everything, and the results are recorded. */
  finished(): Promise<void>;
  /** True while the database rejects results: further claims would only pile up unrecorded. */
  readonly held: boolean;
}

interface Sending {
  claimed: ClaimedText;
  text: OutgoingText;
}

interface Results {
  ended: EndedText[];
  again: ScheduledText[];
}

const writeAgainAfterMs = 200;
/** Texts without an answer after this time no longer hold up the others of their batch. */
const patienceMs = 1000;

export function createSubmission(options: SubmissionOptions): Submission {
  const { database, clock, log, carrier, health, sleep, renderText, atMostOnce, onCount } = options;
  const account = carrier.repeatsMessageId ? undefined : carrier.account;
  const unfinished = new Set<Promise<void>>();
  let unwritten = 0;

  async function findOver({ texts, optOuts }: Claim): Promise<Set<string>> {
    const ids = texts.flatMap(({ message }) => message.verificationId ?? []);
    const pending = ids.length === 0 ? new Set() : await options.findPending(ids);
    const over = ids.filter((id) => !pending.has(id));
    const unwanted = optOuts ? await options.findUnwanted?.(texts.map(({ message }) => message)) : undefined;
    return new Set([...over, ...(unwanted ?? [])]);
  }

  /** Separates the texts to submit from those that end here or go back. */
  function separate(texts: ClaimedText[], over: Set<string>, beginBeforeMs: number) {
    const nowMs = clock.nowMs();
    // After this time another worker may take the claim before the carrier has answered.
    const late = clock.steadyMs() >= beginBeforeMs;
    const sending: Sending[] = [];
    const results: Results = { ended: [], again: [] };
    for (const claimed of texts) {
      // A receipt has settled it since it was queued, or its number was forgotten.
      if (!unsentStatuses.includes(claimed.message.status)) continue;
      const wanted = actionFor(claimed, { nowMs, atMostOnce });
      const { verificationId } = claimed.message;
      const isOver = verificationId !== null && over.has(verificationId);
      const isUnwanted = over.has(claimed.message.id);
      const action = wanted !== 'submit' ? wanted : isUnwanted ? 'block' : isOver ? 'cancel' : 'submit';
      if (action !== 'submit') results.ended.push(endWithoutSubmit(claimed, action));
      else {
        const text = late ? undefined : render(claimed);
        if (text !== undefined) sending.push({ claimed, text });
        else results.again.push(notSubmitted(claimed, { nowMs, carrier: carrier.key, late }));
      }
    }
    return { sending, results };
  }

  /** A text that cannot be rendered does not fail the rest of the batch. */
  function render({ message, entry, parts, form }: ClaimedText): OutgoingText | undefined {
    const { id: messageId, applicationId, to, sender: from, expiresAtMs } = message;
    const lane = laneNames[entry.lane] ?? 'bulk';
    const isCode = message.api === 'verify';
    try {
      const text = renderText(message);
      const about = { messageId, attempt: entry.attempt + 1, applicationId, lane, isCode };
      return { ...about, to, from, text, expiresAtMs, parts, form };
    } catch (error) {
      log.error({ message_id: messageId, reason: (error as Error).message }, 'a text could not be rendered');
      return undefined;
    }
  }

  /** Hands the texts of a claim to the carrier. Each call of the returned step records what is new. */
  function begin(claimId: number, sending: Sending[], unsent: Results): () => Promise<boolean> {
    count('submitted', sending.length);
    count('possible_duplicates', sending.filter(({ claimed }) => claimed.entry.inDoubt).length);
    let writing: Promise<void> = Promise.resolve();
    let left = unsent;
    let works = false;
    const waiting = new Map(sending.map(({ claimed }, place) => [place, claimed]));
    const collector = submitAndCollect({
      clock,
      carrier,
      texts: sending.map(({ text }) => text),
      onLate(place, answer) {
        const claimed = sending[place]?.claimed;
        if (claimed === undefined) return;
        options.onAnswers?.(carrier.key, [{ claimed, answer, tookMs: 0, isLate: true }]);
        // It settles a text that has not been sent again. The doubt is on disk first.
        writing
          .then(() => database.transaction((tx) => recordLateAnswers(tx, recorded(toResults([[claimed, answer]])))))
          .catch(() => {});
      },
      onFailure: ({ message: reason }) =>
        log.warn({ carrier: carrier.key, texts: waiting.size, reason }, 'the carrier did not answer a submit'),
    });

    return async () => {
      const { answers, done } = await collector.collect(patienceMs);
      works ||= answers.some(([, answer]) => isOfWorkingCarrier(answer));
      if (!carrier.watchesItself) health.note(works);
      options.onAnswers?.(
        carrier.key,
        answers.flatMap(([place, answer, tookMs]) => {
          const claimed = waiting.get(place);
          return claimed === undefined ? [] : [{ claimed, answer, tookMs, isLate: false }];
        }),
      );
      const results = add(left, toResults(answers.map(([place, answer]) => [waiting.get(place), answer])));
      for (const [place] of answers) waiting.delete(place);
      left = { ended: [], again: [] };
      if (!done && results.ended.length + results.again.length === 0) return false;
      countResults(results);
      writing = write(claimId, results, done ? [] : [...waiting.values()]);
      await writing;
      return done;
    };
  }

  function toResults(answers: [ClaimedText | undefined, SubmitResult | undefined][]): Results {
    const nowMs = clock.nowMs();
    const results: Results = { ended: [], again: [] };
    for (const [claimed, answer] of answers) {
      if (claimed === undefined) continue;
      const result = attemptResultOf(claimed, answer, {
        nowMs,
        carrier: carrier.key,
        nextCarrier: options.nextCarrier(),
        doubtAfterMs: carrier.onDoubt?.afterMs,
      });
      if ('ended' in result) results.ended.push(result.ended);
      else results.again.push(result.again);
    }
    return results;
  }

  const recorded = ({ ended, again }: Results) => ({ account, ended, again, nowMs: clock.nowMs() });

  /** Retries until the database is back: an unrecorded result would cause a second send. */
  async function write(claimId: number, results: Results, remaining: ClaimedText[]): Promise<void> {
    const kept = remaining.map(({ entry }) => entry);
    let failed = false;
    try {
      for (;;) {
        const error = await recordClaim(database, claimId, recorded(results), kept).catch((reason: unknown) => reason);
        if (error === undefined) return;
        if (!(error instanceof ApiError) || sleep.stopped) throw error;
        if (!failed) unwritten++;
        failed = true;
        await sleep.ignoringWakes(writeAgainAfterMs);
      }
    } finally {
      if (failed) unwritten--;
    }
  }

  function count(name: DeliveryCount, by: number): void {
    if (by > 0) onCount(name, by);
  }

  function countResults({ ended, again }: Results): void {
    for (const status of ['failed', 'expired', 'unknown'] as const) {
      count(status, ended.filter((each) => each.status === status).length);
    }
    count('in_doubt', again.filter(({ entry }) => entry.inDoubt).length);
    count('moved', again.filter((each) => each.carrier !== carrier.key).length);
  }

  /** Goes on in the background with texts that the carrier is slow to answer. */
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
    get held() {
      return unwritten > 0;
    },
    findOver,
    async run(claim, over, beginBeforeMs) {
      const { sending, results } = separate(claim.texts, over, beginBeforeMs);
      if (sending.length === 0) {
        countResults(results);
        await write(claim.id, results, []);
        return;
      }
      const step = begin(claim.id, sending, results);
      if (!(await step())) goOn(step);
    },
    async finished() {
      await Promise.all(unfinished);
    },
  };
}

function add(a: Results, b: Results): Results {
  return { ended: [...a.ended, ...b.ended], again: [...a.again, ...b.again] };
}

const endings = {
  expire: { status: 'expired', error: 'expired' },
  give_up: { status: 'unknown', error: null },
  block: { status: 'failed', error: 'blocked_by_recipient' },
} as const;

function endWithoutSubmit({ entry }: ClaimedText, action: 'expire' | 'give_up' | 'block' | 'cancel'): EndedText {
  const none = { carrierMessageId: null, receiptKey: null, long: undefined };
  // A text that may have arrived is not shown as canceled.
  if (action === 'cancel') return { entry, ...none, status: entry.inDoubt ? 'unknown' : 'canceled', error: null };
  return { entry, ...none, ...endings[action === 'block' && entry.inDoubt ? 'give_up' : action] };
}

function isOfWorkingCarrier(answer: SubmitResult | undefined): boolean {
  if (answer === undefined || answer.outcome === 'in_doubt') return false;
  return answer.outcome !== 'retry' || answer.error !== 'carrier_unavailable';
}
