import { attemptOutcomes } from '../../../src/delivery/attempts/attempt.ts';
import type { QueueEntry } from '../../../src/delivery/attempts/queued-text.ts';
import { statusOf } from '../../../src/messages/message-row.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import type { Tables } from './tables.ts';
import { type TextName, tickMs } from './texts.ts';

/** What is compared: everything that the model has of the tables, in words. */
export type TablesInWords = Record<string, string[]>;

/** The names of the texts, by their uuids. */
export type Names = ReadonlyMap<string, TextName>;

export function modelInWords(tables: Tables): TablesInWords {
  const { messages, queue, schedule, claims, parts, attempts, sentTexts, unmatched } = tables;
  return {
    messages: messages.map(
      ({ name, status, attempt, possibleDuplicates, carrier, carrierMessageId, hasLeft }) =>
        `${name} ${status} ${attempt} ${possibleDuplicates} ${carrier} ${carrierMessageId} ${hasLeft}`,
    ),
    queue: queue.map(({ carrier, entry }) => `${carrier} ${entryInWords(entry)}`),
    schedule: schedule.map(({ carrier, entry, dueAtMs }) => `${carrier} ${entryInWords(entry)} at ${dueAtMs / tickMs}`),
    claims: claims.map(
      ({ carrier, claimedAtMs, revision, entries }) =>
        `${carrier} ${claimedAtMs / tickMs} ${revision}: ${entries.map(entryInWords).join(', ')}`,
    ),
    parts: parts.map(({ name, part, state, carrierMessageId, outcome }) =>
      [name, part, state, carrierMessageId, outcome].join(' '),
    ),
    attempts: attempts.map(({ name, attempt, carrier, outcome, receipt }) =>
      [name, attempt, carrier, outcome, receipt].join(' '),
    ),
    sentTexts: [...sentTexts],
    unmatched: unmatched.map(({ carrierMessageId, outcome }) => `${carrierMessageId} ${outcome}`),
  };
}

function entryInWords({ messageId, attempt, unanswered, possibleDuplicates, inDoubt, moves }: QueueEntry): string {
  return `${messageId} ${attempt} ${unanswered} ${possibleDuplicates} ${inDoubt ? 'in doubt' : 'clear'} ${moves}`;
}

type Row = Record<string, unknown>;

/** The same, as Postgres has it. */
export async function realInWords(database: Database, names: Names, startMs: number): Promise<TablesInWords> {
  const { rows } = await database.query<{ all: Record<string, Row[] | null> }>(readStatement);
  const all = rows[0]?.all ?? {};
  const nameOf = (id: unknown) => names.get(String(id)) ?? 'code';
  const tickOf = (at: unknown) => Math.ceil((Date.parse(String(at)) - startMs) / tickMs);
  const entry = (row: Row) => entryInWords({ ...(row as unknown as QueueEntry), messageId: nameOf(row.messageId) });
  const statusOrNull = (code: unknown) => (code === null ? '' : statusOf(Number(code)));
  const words = (table: string, read: (row: Row) => string) => (all[table] ?? []).map(read);
  return {
    messages: words('messages', ({ id, status, attempt, duplicates, carrier, given, left }) =>
      [nameOf(id), statusOf(Number(status)), attempt, duplicates, carrier, given, left].join(' '),
    ).map((text) => text.replace(/ {2}(true|false)$/, ' null $1')),
    queue: words('queue', (row) => `${row.carrier} ${entry(row)}`),
    schedule: words('schedule', (row) => `${row.carrier} ${entry(row)} at ${tickOf(row.dueAt)}`),
    claims: words('claims', ({ carrier, claimedAt, revision, entries }) => {
      const claimed = (entries as Row[]).map(entry).join(', ');
      return `${carrier} ${tickOf(claimedAt)} ${revision}: ${claimed}`;
    }),
    parts: words('parts', ({ id, part, doubt, given, outcome }) =>
      [nameOf(id), part, doubt ? 'in_doubt' : 'accepted', given, statusOrNull(outcome)].join(' '),
    ),
    attempts: words('attempts', ({ id, attempt, carrier, outcome, receipt }) =>
      [nameOf(id), attempt, carrier, attemptOutcomes[Number(outcome)], statusOrNull(receipt)].join(' '),
    ),
    sentTexts: words('sentTexts', ({ key }) => String(key)),
    unmatched: words('unmatched', ({ given, outcome }) => `${given} ${statusOrNull(outcome)}`),
  };
}

const entryFields = (of = '') => `'messageId', ${of}message_id, 'attempt', ${of}attempt, 'unanswered', ${of}unanswered,
    'possibleDuplicates', ${of}possible_duplicates, 'inDoubt', ${of}in_doubt, 'moves', ${of}moves`;

/** An entry without the time of its expiry would wait for ever. */
const readStatement = `select jsonb_build_object(
    'messages', (select jsonb_agg(jsonb_build_object('id', id, 'status', status, 'attempt', attempt, 'duplicates',
      possible_duplicates, 'carrier', carrier, 'given', carrier_message_id, 'left', sent_at is not null) order by id)
      from message),
    'queue', (select jsonb_agg(jsonb_build_object('carrier', carrier, ${entryFields()}) order by message_id, carrier)
      from delivery_queue where expires_at is not null),
    'schedule', (select jsonb_agg(jsonb_build_object('carrier', carrier, 'dueAt', due_at, ${entryFields()})
      order by message_id) from delivery_schedule where expires_at is not null),
    'claims', (select jsonb_agg(jsonb_build_object('carrier', carrier, 'claimedAt', claimed_at, 'revision', revision,
      'entries', (select jsonb_agg(jsonb_build_object(${entryFields('t.')}) order by t.index)
        from unnest(message_ids, attempts, unanswered, possible_duplicates, in_doubt, moves) with ordinality
          as t(message_id, attempt, unanswered, possible_duplicates, in_doubt, moves, index))) order by id)
      from delivery_claim),
    'parts', (select jsonb_agg(jsonb_build_object('id', message_id, 'part', part, 'doubt', in_doubt, 'given',
      carrier_message_id, 'outcome', outcome) order by message_id, part) from text_part),
    'attempts', (select jsonb_agg(jsonb_build_object('id', message_id, 'attempt', attempt, 'carrier', carrier, 'outcome',
      outcome, 'receipt', receipt) order by message_id, attempt) from text_attempt),
    'sentTexts', (select jsonb_agg(jsonb_build_object('key', receipt_key) order by receipt_key collate "C") from sent_text),
    'unmatched', (select jsonb_agg(jsonb_build_object('given', carrier_message_id, 'outcome', outcome)
      order by carrier_message_id collate "C", outcome) from unmatched_receipt)) as all`;
