import type { Message } from '../messages/message.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { ApiError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { WakeableSleep } from '../platform/wakeable-sleep.ts';
import { attemptResultOf, nextTryAtMs, notSubmitted } from './attempt-result.ts';
import type { Carrier, OutgoingText, SubmitResult } from './carrier.ts';
import type { CarrierHealth } from './carrier-health.ts';
import { type AttemptResult, type ClaimedMessage, recordResults, releaseInDoubt } from './delivery-store.ts';

export interface SubmissionOptions {
  database: Database;
  clock: Clock;
  log: Log;
  carrier: Carrier;
  health: CarrierHealth;
  sleep: WakeableSleep;
  renderText: (message: Message) => string;
  onCount: (name: 'submitted' | 'possible_duplicates' | 'in_doubt' | 'failed', by: number) => void;
}

export interface Submission {
  /** Submits claims to the carrier and records each result. Submits nothing after `beginBeforeMs` (steady time). */
  run(claims: ClaimedMessage[], beginBeforeMs: number): Promise<void>;
  /** True while the database rejects results: further claims would only pile up unrecorded. */
  readonly held: boolean;
}

interface Sending {
  claim: ClaimedMessage;
  text: OutgoingText;
}

const writeAgainAfterMs = 200;

export function createSubmission(options: SubmissionOptions): Submission {
  const { database, clock, log, carrier, health, sleep, renderText, onCount } = options;
  let unwritten = 0;

  /** Separates the claims to submit from those to put back in the queue. */
  function separate(claims: ClaimedMessage[], beginBeforeMs: number): { sending: Sending[]; results: AttemptResult[] } {
    const nowMs = clock.nowMs();
    // After this time another worker may claim the message before the carrier has answered.
    const late = clock.steadyMs() >= beginBeforeMs;
    const sending: Sending[] = [];
    const results: AttemptResult[] = [];
    for (const claim of claims) {
      const text = late || claim.expiresAtMs <= nowMs ? undefined : render(claim);
      if (text !== undefined) sending.push({ claim, text });
      else results.push(notSubmitted(claim, late ? nowMs : nextTryAtMs(claim, nowMs)));
    }
    return { sending, results };
  }

  /** A text that cannot be rendered does not fail the rest of the batch. */
  function render(claim: ClaimedMessage): OutgoingText | undefined {
    const { id, attempt, applicationId, to, sender, expiresAtMs } = claim;
    try {
      const text = renderText(claim);
      return { messageId: id, attempt, applicationId, to, from: sender, text, expiresAtMs };
    } catch (error) {
      log.error({ message_id: id, reason: (error as Error).message }, 'a text could not be rendered');
      return undefined;
    }
  }

  async function send(sending: Sending[]): Promise<{ results: AttemptResult[]; inDoubt: ClaimedMessage[] }> {
    const claims = sending.map(({ claim }) => claim);
    count('submitted', claims.length);
    count('possible_duplicates', claims.filter(({ inDoubt }) => inDoubt).length);
    const answering = ask(sending.map(({ text }) => text));
    const answers = await within(answering, carrier.submitTimeoutMs).catch((error: Error) => {
      log.warn(
        { carrier: carrier.name, texts: claims.length, reason: error.message },
        'the carrier did not answer a submit',
      );
      // A late answer still settles texts that have not been sent again.
      answering.then((late) => recordResults(database, toResults(claims, late).results, clock.nowMs())).catch(() => {});
      return [];
    });
    health.note(answers.some(isOfWorkingCarrier));
    return toResults(claims, answers);
  }

  /** Async, so that a synchronous throw becomes a rejection too. */
  async function ask(texts: OutgoingText[]): Promise<SubmitResult[]> {
    return carrier.submit(texts);
  }

  function toResults(
    claims: ClaimedMessage[],
    answers: SubmitResult[],
  ): { results: AttemptResult[]; inDoubt: ClaimedMessage[] } {
    const nowMs = clock.nowMs();
    const results = claims.map((claim, index) => attemptResultOf(claim, answers[index], nowMs));
    return {
      results: results.filter((result) => result !== undefined),
      inDoubt: claims.filter((_, index) => results[index] === undefined),
    };
  }

  /** Retries until the database is back: an unrecorded result would cause a second send. */
  async function write(results: AttemptResult[]): Promise<void> {
    let failed = false;
    try {
      for (;;) {
        const error = await recordResults(database, results, clock.nowMs()).catch((reason: unknown) => reason);
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

  function count(name: Parameters<typeof onCount>[0], by: number): void {
    if (by > 0) onCount(name, by);
  }

  return {
    get held() {
      return unwritten > 0;
    },
    async run(claims, beginBeforeMs) {
      const { sending, results: unsent } = separate(claims, beginBeforeMs);
      const { results, inDoubt } = sending.length > 0 ? await send(sending) : { results: [], inDoubt: [] };
      count('failed', results.filter(({ status }) => status === 'failed').length);
      count('in_doubt', inDoubt.length);
      await write([...unsent, ...results]);
      const nowMs = clock.nowMs();
      await releaseInDoubt(
        database,
        inDoubt.map((claim) => ({
          messageId: claim.id,
          attempt: claim.attempt,
          dueAtMs: nextTryAtMs(claim, nowMs),
        })),
      );
    },
  };
}

function isOfWorkingCarrier(answer: SubmitResult): boolean {
  return answer.outcome !== 'retry' || answer.error !== 'carrier_unavailable';
}

function within<Result>(promise: Promise<Result>, ms: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
