import type { TextAttempt } from '../../../src/delivery/attempts/attempt.ts';
import type { EndedText, QueueEntry, ScheduledText } from '../../../src/delivery/attempts/queued-text.ts';
import { createClaims, giveBackClaim, newToken } from '../../../src/delivery/queue/claim-store.ts';
import { expireWaiting } from '../../../src/delivery/queue/expiry-store.ts';
import { recordLateAnswers } from '../../../src/delivery/queue/late-answer-store.ts';
import { moveTexts } from '../../../src/delivery/queue/mover-store.ts';
import { releaseClaims } from '../../../src/delivery/queue/release-store.ts';
import type { ClaimResults } from '../../../src/delivery/queue/result-statement.ts';
import { recordClaim } from '../../../src/delivery/queue/result-store.ts';
import { queueDue } from '../../../src/delivery/queue/schedule-store.ts';
import { createReceipts } from '../../../src/delivery/receipts/receipts.ts';
import { statusCode } from '../../../src/messages/message-row.ts';
import { cancelMessages, cancelTexts } from '../../../src/messages/message-store.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { uuidOf } from '../../../src/platform/ids.ts';
import type { TestClock } from '../../support/clock.ts';
import { nextCarrier, testApplicationId, testVerificationId } from '../../support/recording-carrier.ts';
import type { ReceiptArguments } from './receipt-statements.ts';
import type { Results } from './result-statements.ts';
import type { Ran } from './statements.ts';
import type { Tables } from './tables.ts';
import type { CarrierName, TextName } from './texts.ts';

/** A lease that a test ends. */
const leaseMs = 3_600_000;

export interface RealStores {
  /** Runs on Postgres what the model has run. */
  run(ran: Ran, before: Tables): Promise<void>;
  /** Leases go by the clock of Postgres, which no test turns. */
  endLeases(ids: readonly number[]): Promise<void>;
}

export function createRealStores(
  database: Database,
  clock: TestClock,
  startMs: number,
  /** The public ids of the texts. */
  ids: ReadonlyMap<TextName, string>,
): RealStores {
  const tokens = new Map<number, string>();
  const idOf = (name: string) => ids.get(name as TextName) ?? '';
  const applicationUuid = uuidOf(testApplicationId);
  const realEntry = (entry: QueueEntry): QueueEntry => ({
    ...entry,
    applicationId: applicationUuid,
    messageId: uuidOf(idOf(entry.messageId)),
  });
  const realAttempt = (attempt: TextAttempt | undefined) =>
    attempt && { ...attempt, messageId: uuidOf(idOf(attempt.messageId)), submittedAtMs: clock.nowMs() };

  function realResults(carrier: CarrierName, account: string | undefined, { ended, again }: Results): ClaimResults {
    return {
      carrier,
      account,
      ended: ended.map(
        (text): EndedText => ({ ...text, entry: realEntry(text.entry), attempt: realAttempt(text.attempt) }),
      ),
      again: again.map(
        (text): ScheduledText => ({
          ...text,
          entry: realEntry(text.entry),
          attempt: realAttempt(text.attempt),
          dueAtMs: startMs + text.dueAtMs,
        }),
      ),
      nowMs: clock.nowMs(),
    };
  }

  /** The number that Postgres gave the claim; none if the claim is gone. */
  async function claimIdOf(id: number): Promise<number> {
    const { rows } = await database.query<{ id: number }>('select id from delivery_claim where token = $1', [
      tokens.get(id),
    ]);
    return rows[0]?.id ?? 0;
  }

  function receiptsFor(next: CarrierName | undefined, pending: boolean) {
    return createReceipts({
      database,
      clock,
      resend: {
        findPending: () => Promise.resolve(new Set(pending ? [testVerificationId] : [])),
        nextCarrier: () => (next === undefined ? undefined : nextCarrier(next)),
        onMoved() {},
      },
    });
  }

  async function applyReceipt({ receipt, next }: ReceiptArguments, pending: boolean): Promise<void> {
    const { carrierMessageId, outcome, isNamed } = receipt;
    const [name = '', carrier = ''] = carrierMessageId.split('/');
    const messageId = isNamed ? idOf(name) : null;
    const given = { carrierMessageId, keys: [carrierMessageId], numbers: [], messageId, outcome, error: null };
    await receiptsFor(next, pending).apply({ key: carrier, account: carrier }, [given]);
  }

  async function rematch({ receipt, next }: ReceiptArguments, pending: boolean): Promise<void> {
    await database.query(
      `update unmatched_receipt set retry_at = case when carrier_message_id = $1 and outcome = $2
         then timestamptz '-infinity' else timestamptz 'infinity' end`,
      [receipt.carrierMessageId, statusCode(receipt.outcome)],
    );
    await receiptsFor(next, pending).rematch();
  }

  return {
    async run(ran, { pending }) {
      const nowMs = clock.nowMs();
      switch (ran.statement) {
        case 'claimTexts': {
          const { carrier, id, limit, nowMs: claimedMs } = ran.given;
          const token = newToken();
          tokens.set(id, token);
          const limits = { first: limit, bulk: limit };
          await createClaims(database)({ carrier, token, nowMs: startMs + claimedMs, leaseMs, limits });
          return;
        }
        case 'giveBackClaim':
          await giveBackClaim(database, tokens.get(ran.given.id) ?? '');
          return;
        case 'releaseClaims': {
          const { carrier, nowMs: releasedMs, atMostOnce, doubtAfterMs } = ran.given;
          const given = { carrier, nowMs: startMs + releasedMs, atMostOnce, doubtAfterMs, all: false };
          await releaseClaims(database, given);
          return;
        }
        case 'recordClaim': {
          const { claim, carrier, remaining } = ran.given;
          const open = { id: await claimIdOf(claim.id), revision: claim.revision };
          await recordClaim(
            database,
            open,
            realResults(carrier, ran.given.account, ran.given),
            remaining.map(realEntry),
          );
          return;
        }
        case 'recordLateAnswers':
          await database.transaction((tx) =>
            recordLateAnswers(tx, realResults(ran.given.carrier, ran.given.carrier, ran.given)),
          );
          return;
        case 'queueDue':
          await queueDue(database, { carrier: ran.given.carrier, nowMs: startMs + ran.given.nowMs, limit: 100 });
          return;
        case 'expireWaiting':
          await expireWaiting(database, { nowMs: startMs + ran.given.nowMs, limit: 100 });
          return;
        case 'cancelText':
          await cancelMessages(database, [{ applicationId: testApplicationId, api: 'sms', id: idOf('long') }], nowMs);
          return;
        case 'endVerification':
          await cancelTexts(database, [idOf('code')], nowMs);
          return;
        case 'moveTexts': {
          const { from, to, names } = ran.given;
          const moves = names.map((name) => ({ text: waitingText(name, idOf(name)), next: nextCarrier(to) }));
          await moveTexts(database, from, moves, nowMs);
          return;
        }
        case 'applyReceipt':
          await applyReceipt(ran.given, pending);
          return;
        case 'rematchReceipt':
          await rematch(ran.given, pending);
          return;
        case 'dropPartition':
          await database.query('delete from message where id = $1', [uuidOf(idOf(ran.given.name))]);
          return;
        default:
          ran satisfies never;
      }
    },
    async endLeases(ended) {
      await database.query(`update delivery_claim set leased_until = '-infinity' where token = any($1::uuid[])`, [
        ended.map((id) => tokens.get(id)),
      ]);
    },
  };
}

function waitingText(name: TextName, id: string) {
  const about = { to: '+447700900123', sender: 'ACME', given: null, mayHaveLeft: false };
  return {
    ...about,
    id,
    api: name === 'code' ? ('verify' as const) : ('sms' as const),
    applicationId: testApplicationId,
    lane: 0,
    applicationUuid: uuidOf(testApplicationId),
    messageUuid: uuidOf(id),
  };
}
