import { type Message, unsentStatuses } from '../messages/message.ts';
import { lanes } from '../messages/message-queue.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { ApiError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { WakeableSleep } from '../platform/wakeable-sleep.ts';
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
  renderText: (message: Message) => string;
  atMostOnce: boolean;
  onCount: (name: DeliveryCount, by: number) => void;
}

export type DeliveryCount = 'submitted' | 'possible_duplicates' | 'in_doubt' | 'failed' | 'expired' | 'unknown';

export interface Submission {
  /** Submits a claim to the carrier and records each result. Submits nothing after `beginBeforeMs` (steady time). */
  run(claim: Claim, beginBeforeMs: number): Promise<void>;
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

export function createSubmission(options: SubmissionOptions): Submission {
  const { database, clock, log, carrier, health, sleep, renderText, atMostOnce, onCount } = options;
  let unwritten = 0;

  /** Separates the texts to submit from those that end here or go back. */
  function separate(texts: ClaimedText[], beginBeforeMs: number): { sending: Sending[]; results: Results } {
    const nowMs = clock.nowMs();
    // After this time another worker may take the claim before the carrier has answered.
    const late = clock.steadyMs() >= beginBeforeMs;
    const sending: Sending[] = [];
    const results: Results = { ended: [], again: [] };
    for (const claimed of texts) {
      // A receipt has settled it since it was queued, or its number was forgotten.
      if (!unsentStatuses.includes(claimed.message.status)) continue;
      const action = actionFor(claimed, { nowMs, atMostOnce });
      if (action === 'expire') results.ended.push({ ...noAnswer(claimed), status: 'expired', error: 'expired' });
      else if (action === 'give_up') results.ended.push({ ...noAnswer(claimed), status: 'unknown', error: null });
      else {
        const text = late ? undefined : render(claimed);
        if (text !== undefined) sending.push({ claimed, text });
        else results.again.push(notSubmitted(claimed, nowMs, late));
      }
    }
    return { sending, results };
  }

  /** A text that cannot be rendered does not fail the rest of the batch. */
  function render({ message, entry }: ClaimedText): OutgoingText | undefined {
    const { id: messageId, applicationId, to, sender: from, expiresAtMs } = message;
    const lane = entry.lane === lanes.verification ? 'verification' : 'bulk';
    try {
      const text = renderText(message);
      return { messageId, attempt: entry.attempt + 1, applicationId, lane, to, from, text, expiresAtMs };
    } catch (error) {
      log.error({ message_id: messageId, reason: (error as Error).message }, 'a text could not be rendered');
      return undefined;
    }
  }

  /** Returns the results, and the carrier's answers if they come after its time. */
  async function send(sending: Sending[]): Promise<{ results: Results; late: Promise<Results> | undefined }> {
    const texts = sending.map(({ claimed }) => claimed);
    count('submitted', texts.length);
    count('possible_duplicates', texts.filter(({ entry }) => entry.inDoubt).length);
    let late: Promise<Results> | undefined;
    const answering = ask(sending.map(({ text }) => text));
    const answers = await within(answering, carrier.submitTimeoutMs).catch((error: Error) => {
      const reason = error.message;
      log.warn({ carrier: carrier.name, texts: texts.length, reason }, 'the carrier did not answer a submit');
      late = answering.then((given) => toResults(texts, given));
      late.catch(() => {});
      return [];
    });
    health.note(answers.some(isOfWorkingCarrier));
    return { results: toResults(texts, answers), late };
  }

  /** Async, so that a synchronous throw becomes a rejection too. */
  async function ask(texts: OutgoingText[]): Promise<SubmitResult[]> {
    return carrier.submit(texts);
  }

  function toResults(texts: ClaimedText[], answers: SubmitResult[]): Results {
    const nowMs = clock.nowMs();
    const results: Results = { ended: [], again: [] };
    for (const [index, text] of texts.entries()) {
      const result = attemptResultOf(text, answers[index], nowMs);
      if ('ended' in result) results.ended.push(result.ended);
      else results.again.push(result.again);
    }
    return results;
  }

  const recorded = ({ ended, again }: Results) => ({
    carrier: carrier.name,
    ended,
    again,
    keepCarrierIds: !carrier.repeatsMessageId,
    nowMs: clock.nowMs(),
  });

  /** Retries until the database is back: an unrecorded result would cause a second send. */
  async function write(claimId: number, results: Results): Promise<void> {
    let failed = false;
    try {
      for (;;) {
        const error = await recordClaim(database, claimId, recorded(results)).catch((reason: unknown) => reason);
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
  }

  return {
    get held() {
      return unwritten > 0;
    },
    async run(claim, beginBeforeMs) {
      const { sending, results: unsent } = separate(claim.texts, beginBeforeMs);
      const sent = sending.length > 0 ? await send(sending) : undefined;
      const results = {
        ended: [...unsent.ended, ...(sent?.results.ended ?? [])],
        again: [...unsent.again, ...(sent?.results.again ?? [])],
      };
      countResults(results);
      await write(claim.id, results);
      // A late answer still settles texts that have not been sent again.
      sent?.late?.then((late) => database.transaction((tx) => recordLateAnswers(tx, recorded(late)))).catch(() => {});
    },
  };
}

function noAnswer({ entry }: ClaimedText): Pick<EndedText, 'entry' | 'carrierMessageId'> {
  return { entry, carrierMessageId: null };
}

function isOfWorkingCarrier(answer: SubmitResult | undefined): boolean {
  if (answer === undefined || answer.outcome === 'in_doubt') return false;
  return answer.outcome !== 'retry' || answer.error !== 'carrier_unavailable';
}

function within<Result>(promise: Promise<Result>, ms: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
