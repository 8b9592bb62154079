// Tests: test/smpp/failover.test.ts

import type { TimelineEvent } from '../../http/timeline.ts';
import { carrierNameOf, type MessageErrorCode, type MessageStatus, messageError } from '../../messages/message.ts';
import { toIdRange } from '../../messages/message-row.ts';
import { isInRange } from '../../messages/message-store.ts';
import type { Tx } from '../../platform/database/database.ts';
import { fromUuid, uuidOf } from '../../platform/ids.ts';
import { shownCarrierId } from '../carrier/id.ts';
import type { AttemptOutcome } from './attempt.ts';
import { findAttempts, type KeptAttempt } from './store.ts';

/** One attempt to send a text, as the message's timeline shows it. */
export interface ShownAttempt {
  attempt: number;
  /** The carrier's name. */
  carrier: string;
  atMs: number;
  outcome: AttemptOutcome;
  /** The carrier's own id of the text. */
  carrierMessageId: string | null;
  error: MessageErrorCode | null;
  /** The rule that chose the carrier; null with an empty table. */
  route: string | null;
  /** The status of its receipt, if the text has since moved to another carrier. */
  receipt: MessageStatus | null;
  /** The carrier's own words in its answer and in its receipt. */
  reported: string | null;
  receiptReported: string | null;
  /** The carrier that got the text next. */
  movedTo: string | null;
}

interface MessageRow {
  id: string;
  carrier: string;
  attempt: number;
  sentAtMs: number | null;
  carrierMessageId: string | null;
  route: string | null;
}

/** The attempts of messages, by id, in order. An attempt without a row is derived from the message's own record. */
export async function findAttemptStories(tx: Tx, messageIds: string[]): Promise<Map<string, ShownAttempt[]>> {
  if (messageIds.length === 0) return new Map();
  const { rows } = await tx.query<MessageRow>(selectStatement, toIdRange(messageIds));
  const kept = await findAttempts(tx, messageIds.map(uuidOf));
  return new Map(rows.map((row) => [fromUuid('msg', row.id), toShown(row, kept.get(row.id) ?? [])]));
}

const selectStatement = `select id, carrier, attempt, sent_at as "sentAtMs", carrier_message_id as "carrierMessageId",
    (select t.routes -> message.route_rule::integer ->> 'name' from route_table t where t.version = route_version) as route
  from message where ${isInRange(1)}`;

function toShown(message: MessageRow, kept: KeptAttempt[]): ShownAttempt[] {
  const attempts = kept.map(({ submittedAtMs: atMs, ...rest }) => ({ ...rest, atMs }));
  const isKept = attempts.some(({ attempt }) => attempt === message.attempt);
  if (message.sentAtMs !== null && message.attempt > 0 && !isKept) {
    const { attempt, carrier, sentAtMs: atMs, carrierMessageId } = message;
    const about = { error: null, receipt: null, movedTo: null, routeName: null };
    attempts.push({ ...about, ...nothingReported, attempt, carrier, atMs, outcome: 'accepted', carrierMessageId });
  }
  return attempts.map((each, index) => {
    const before = attempts.slice(0, index).findLast(({ movedTo }) => movedTo === each.carrier);
    const { attempt, atMs, outcome, carrierMessageId, error, receipt, reported, receiptReported } = each;
    const carrier = carrierNameOf(each.carrier);
    const shown = { outcome, carrierMessageId, error, receipt, reported, receiptReported };
    const route = before === undefined ? message.route : before.routeName;
    const movedTo = each.movedTo === null ? null : carrierNameOf(each.movedTo);
    return { attempt, carrier, atMs, route, ...shown, movedTo };
  });
}

const nothingReported = {
  ...{ routeVersion: null, parts: null, price: null, currency: null, network: null },
  ...{ reported: null, receiptReported: null },
};

/** The attempts as events. A single attempt that was simply accepted has none: the message's own record shows it. */
function attemptEvents(attempts: ShownAttempt[]): TimelineEvent[] {
  const isPlain = ({ outcome, receiptReported }: ShownAttempt) => outcome === 'accepted' && receiptReported === null;
  if (attempts.length < 2 && attempts.every(isPlain)) return [];
  return attempts.map((each) => ({ atMs: each.atMs, event: 'attempt', detail: sentenceOf(each) }));
}

/** Adds the events of attempts to those of records: after the start and before the end, even if the times are equal. */
export function withAttempts(events: TimelineEvent[], stories: Map<string, ShownAttempt[]>): TimelineEvent[] {
  const isFirst = ({ event }: TimelineEvent) => event === 'started' || event === 'accepted';
  const attempts = [...stories.values()].flatMap(attemptEvents);
  return [...events.filter(isFirst), ...attempts, ...events.filter((each) => !isFirst(each))];
}

function sentenceOf(shown: ShownAttempt): string {
  const { attempt, carrier, outcome, carrierMessageId, error, route, receipt, movedTo } = shown;
  const by = route === null ? '' : ` (route ${route})`;
  const id = carrierMessageId === null ? '' : ` as ${shownCarrierId(carrierMessageId)}`;
  const said = shown.reported === null ? '' : ` (${shown.reported})`;
  const why = error === null || outcome === 'unavailable' ? '' : ` ${messageError(error)?.message}`;
  const what: Record<AttemptOutcome, string> = {
    accepted: `accepted the text${id}.`,
    refused: `refused the text${said}.`,
    unavailable: `could not take the text${said}.`,
    throttled: `asked for fewer texts${said}.`,
    in_doubt: `${said === '' ? 'did not answer' : `gave no answer that can be used${said}`}. The text may have arrived.`,
  };
  const words = shown.receiptReported;
  const news = receipt !== null && words !== null ? `${receipt} (${words})` : (receipt ?? words);
  const reported = news === null ? '' : ` Receipt: ${news}.`;
  const next = movedTo === null ? '' : ` Moved to ${movedTo}.`;
  return `Attempt ${attempt}, carrier ${carrier}${by}: it ${what[outcome]}${why}${reported}${next}`;
}
