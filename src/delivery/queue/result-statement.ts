import { unsentStatuses } from '../../messages/message.ts';
import { changedColumns, reportChanges } from '../../messages/message-events.ts';
import { errorCodeOf, statusCode, statusCodes, toUuidRange } from '../../messages/message-row.ts';
import { insertEnds, isInRange } from '../../messages/message-store.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { EndedText, QueueEntry, ScheduledText } from '../attempts/queued-text.ts';
import { partInserts } from './part-store.ts';

export interface ClaimResults {
  /** The carrier that gave the answers. */
  carrier: string;
  /** The account that receipts for these texts will name, if they name them by the carrier's ids only. */
  account: string | undefined;
  ended: EndedText[];
  again: ScheduledText[];
  nowMs: number;
}

/**
 * Updates the records: one update for all texts with the same result, so that Postgres looks up a list of ids and joins
 * nothing. Only the carrier's ids differ.
 */
export function recordParts(
  { ended, again, account, nowMs }: ClaimResults,
  values: unknown[],
  condition: string,
  /** Set if the text may have moved to another carrier meanwhile. */
  carrier?: string,
): string[] {
  const long = [...ended, ...again].filter((text) => text.long !== undefined);
  // Postgres rejects a parameter that no part uses.
  if (ended.length === 0 && long.length === 0) return [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const bindIds = (uuids: string[]) => isInRange(values.push(...toUuidRange(uuids)) - 2);
  let parameter: string | undefined;
  const nowParameter = () => {
    parameter ??= `${bind(toTimestamp(nowMs))}::timestamptz`;
    return parameter;
  };
  const recorded = groupBy(ended, resultOf).flatMap((group, index) => {
    const [{ entry, status, error, wasSent, attempt }] = group;
    const sent = status === 'sent';
    const end = wasSent && attempt === undefined && !sent ? earlierEnd : undefined;
    const from = wasSent ? statusCode('sent') : statusCodes(unsentStatuses);
    const parts = [
      `recorded_${index} as (
        update message set status = ${end?.status ?? statusCode(status)},
          error_code = ${end?.error ?? `${bind(errorCodeOf(error))}::smallint`},
          attempt = ${bind(entry.attempt)}, possible_duplicates = ${bind(entry.possibleDuplicates)}, updated_at = ${nowParameter()},
          sequence = sequence + ${sent && wasSent ? 0 : 1}${carrier === undefined ? '' : `, carrier = ${bind(carrier)}`}${
            sent ? `, sent_at = ${nowParameter()}, carrier_message_id = ${carrierIdSql(group, bind)}` : ''
          }
        where ${bindIds(idsOf(group))} and ${condition} and status in (${from})
        returning ${changedColumns()})`,
    ];
    if (!sent) parts.push(`bad_end_${index} as (${insertEnds(`recorded_${index}`)})`);
    // A text that another carrier sent before stays `sent`, so there is no change to report.
    const isReported = group.some((text) => text.isReported !== false);
    if (!(sent && wasSent)) parts.push(reportChanges(`recorded_${index}`, `_${index}`, isReported));
    const named = sent && account !== undefined ? group.filter((text) => text.long === undefined) : [];
    if (named.length > 0)
      parts.push(`known_${index} as (
        insert into sent_text (account, receipt_key, message_id, sent_at)
        select ${bind(account)}, receipt_key, message_id, ${nowParameter()}
        from unnest(${bind(named.map(({ receiptKey }) => receiptKey))}::text[], ${bind(idsOf(named))}::uuid[])
          as k(receipt_key, message_id)
        where exists (select from recorded_${index} r where r.id = k.message_id) on conflict do nothing)`);
    return parts;
  });
  return [...recorded, ...partInserts(long, { account, nowParameter, condition }, values)];
}

function resultOf({ entry, status, error, wasSent, attempt }: EndedText): string {
  const earlier = wasSent ? `after ${attempt === undefined}` : '';
  return `${status} ${error} ${entry.attempt} ${entry.possibleDuplicates} ${earlier}`;
}

/**
 * A text that its first carrier did not deliver, and that no second carrier accepted, ends as the first carrier
 * reported.
 */
const earlierEnd = {
  status: `coalesce(${ofEarlierAttempt('receipt')}, ${statusCode('undelivered')})`,
  error: ofEarlierAttempt('error_code'),
};

function ofEarlierAttempt(column: string): string {
  return `(select t.${column} from text_attempt t where t.message_id = message.id and t.receipt is not null
          order by t.attempt desc limit 1)`;
}

function carrierIdSql(group: EndedText[], bind: (value: unknown) => string): string {
  const [first] = group;
  if (group.every(({ carrierMessageId }) => carrierMessageId === first?.carrierMessageId))
    return bind(first?.carrierMessageId);
  // The JSON is built by hand: V8 takes long for an object that has a hundred ids as names.
  const ids = group.map(({ entry, carrierMessageId }) => `"${entry.messageId}":${JSON.stringify(carrierMessageId)}`);
  return `${bind(`{${ids.join(',')}}`)}::jsonb ->> id::text`;
}

/** Groups are never empty. */
function groupBy<Item>(items: Item[], keyOf: (item: Item) => string): [Item, ...Item[]][] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

export function attemptsIn({ ended, again }: Pick<ClaimResults, 'ended' | 'again'>) {
  return [...ended, ...again].map(({ attempt }) => attempt);
}

export function idsOf(texts: { entry: QueueEntry }[]): string[] {
  return texts.map(({ entry }) => entry.messageId);
}
