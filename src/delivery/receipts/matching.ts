import { type MessageStatus, unsentStatuses } from '../../messages/message.ts';
import { statusOf } from '../../messages/message-row.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { Receipt } from '../carrier/carrier.ts';
import { isKeyOf } from '../carrier/receipt-keys.ts';
import { isNumber } from '../carrier/reported-number.ts';

/** A text that may match a receipt. */
export interface Candidate {
  /** The message's uuid. */
  id: string;
  /** 0 for a text of one part. */
  part: number;
  to: string;
  /** The sender that it left with. */
  from: string;
  unsent: boolean;
  /** False once the text has an end that no receipt changes. */
  awaiting: boolean;
  /** The key that matched it. */
  key: string;
  /**
   * For a text that may have been sent twice: the carrier's ids of the text and of the part. The receipt may be for
   * another copy.
   */
  textId: string | null;
  partId: string | null;
}

const awaitingStatuses: readonly MessageStatus[] = [...unsentStatuses, 'sent', 'unknown'];
/** Some carriers give many texts the same id: only the newest of them are read. */
const mostPerKey = 100;

/** Finds the texts that receipts of an account may match, by key. */
export async function findCandidates(tx: Tx, account: string, receipts: Receipt[]): Promise<Map<string, Candidate[]>> {
  const keys = [...new Set(receipts.flatMap((receipt) => receipt.keys))];
  const found = new Map<string, Candidate[]>();
  if (keys.length === 0) return found;
  const { rows } = await tx.query<Omit<Candidate, 'unsent' | 'awaiting'> & { status: number }>(findStatement, [
    account,
    keys,
  ]);
  for (const { status: code, ...row } of rows) {
    const status = statusOf(code);
    const candidate = {
      ...row,
      unsent: unsentStatuses.includes(status),
      awaiting: awaitingStatuses.includes(status),
    };
    found.set(row.key, [...(found.get(row.key) ?? []), candidate]);
  }
  return found;
}

const findStatement = {
  name: 'find-receipt-candidates',
  text: `select k.key, t.message_id as id, t.part, m.recipient as "to", coalesce(m.sent_as, m.sender) as "from",
      m.status,
      case when m.possible_duplicates > 0 then m.carrier_message_id end as "textId",
      case when m.possible_duplicates > 0 and t.part > 0 then (
        select p.carrier_message_id from text_part p where p.message_id = t.message_id and p.part = t.part) end as "partId"
    from unnest($2::text[]) as k(key)
    cross join lateral (
      select message_id, part from sent_text where account = $1 and receipt_key = k.key
      order by message_id desc limit ${mostPerKey}) t
    join message m on m.id = t.message_id`,
};

/**
 * Whether a receipt is for a copy whose id we know. If a text may have been sent twice, a failure of another copy says
 * nothing.
 */
export function isOfKnownCopy({ key, part, textId, partId }: Candidate): boolean {
  const knownId = part > 0 ? partId : textId;
  return knownId !== null && isKeyOf(key, knownId);
}

/**
 * Chooses the text that a receipt is for, by the first key that matches. Among several texts it takes the one that
 * waits for a receipt, and none if several wait: a wrong end is worse than a late one.
 */
export function choose(
  { keys, numbers }: Receipt,
  candidates: Map<string, Candidate[]>,
): Candidate | 'settled' | 'ambiguous' | undefined {
  for (const key of keys) {
    const found = candidates.get(key) ?? [];
    const fitting = found.filter((candidate) => isAmong(candidate.to, numbers));
    if (fitting.length === 1) return fitting[0];
    // Some carriers name our sender in both places, or hide the phone's number: then a unique id is enough.
    const [only] = found;
    if (found.length === 1 && only !== undefined && namesNoOther(only, numbers)) return only;
    if (fitting.length === 0) continue;
    const awaiting = fitting.filter((candidate) => candidate.awaiting);
    if (awaiting.length === 0) return 'settled';
    return awaiting.length === 1 ? awaiting[0] : 'ambiguous';
  }
  return undefined;
}

/** Some carriers name the phone where others name our sender, so either number may be the phone's. */
function isAmong(recipient: string, numbers: string[]): boolean {
  // A recipient that we have masked ourselves cannot be compared.
  if (!/^\+\d+$/.test(recipient)) return true;
  const compared = numbers.map((number) => isNumber(number, recipient)).filter((fits) => fits !== undefined);
  return compared.length === 0 || compared.includes(true);
}

/** Besides our sender, the receipt names no phone, or hides too many digits. */
function namesNoOther({ from, to }: Candidate, numbers: string[]): boolean {
  if (!/^\+?\d+$/.test(from)) return false;
  return numbers.every((number) => isNumber(number, from) === true || isNumber(number, to) === undefined);
}
