/** The columns that an entry has in the queue, in the schedule and, as arrays, in a claim. */
const entry = [
  'lane',
  'application_id',
  'message_id',
  'attempt',
  'unanswered',
  'possible_duplicates',
  'in_doubt',
  'moves',
];

export const entryColumns = entry.join(', ');

export function entryColumnsOf(table: string): string {
  return entry.map((column) => `${table}.${column}`).join(', ');
}

/** The columns under the names of `QueueEntry`. */
export const entryFields = `lane, application_id as "applicationId", message_id as "messageId", attempt, unanswered,
  possible_duplicates as "possibleDuplicates", in_doubt as "inDoubt", moves`;

export const queueColumns = `carrier, ${entryColumns}, expires_at`;

const arrays = ['lanes', 'application_ids', 'message_ids', 'attempts', 'silences', 'duplicates', 'doubts', 'moved'];

/** A claim's arrays, under names that no column of an entry has. */
export const claimArrays = `lanes, application_ids, message_ids, attempts, unanswered as silences,
        possible_duplicates as duplicates, in_doubt as doubts, moves as moved`;

/** The entries of a row with `claimArrays`, for a lateral join. */
export const claimEntries = `unnest(${arrays.join(', ')}) as t(${entryColumns})`;
