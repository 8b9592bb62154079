import { attemptOutcomes } from '../../src/delivery/attempts/attempt.ts';
import { apiNames } from '../../src/http/route.ts';
import { statusOf } from '../../src/messages/message-row.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { verificationStatuses } from '../../src/verify/verification.ts';
import type { Ledger } from './ledger.ts';
import { checkEvent, createCodeCheck, createTextCheck } from './reconcile.ts';

const pageRows = 5000;
const unended = ['scheduled', 'queued', 'sent'];

/** How many texts of the application have not ended yet. */
export async function countUnended(database: Database, applicationId: string): Promise<number> {
  const codes = Array.from({ length: 16 }, (_, code) => code).filter((code) => unended.includes(safeStatus(code)));
  const { rows } = await database.query<{ count: string }>(
    'select count(*) from message where application_id = $1 and status = any($2::smallint[]) and reference is not null',
    [uuidOf(applicationId), codes],
  );
  return Number(rows[0]?.count ?? 0);
}

/** Codes beyond the last status have no name. */
function safeStatus(code: number): string {
  try {
    return statusOf(code);
  } catch {
    return '';
  }
}

interface Row {
  id: string;
  reference: string | null;
  status: number;
  failedSubmits: number;
}

/** Reads everything that the application has in the store, in pages, and holds it against the ledger. */
export async function checkStore(database: Database, applicationId: string, ledger: Ledger): Promise<void> {
  const texts = createTextCheck(ledger);
  await readPages(database, 'message', applicationId, ({ reference, status, failedSubmits }) =>
    texts.row({ reference, status: statusOf(status), failedSubmits }),
  );
  texts.end();
  const codes = createCodeCheck(ledger);
  await readPages(database, 'verification', applicationId, ({ reference, status }) =>
    codes.row({ reference, status: verificationStatuses[status] ?? '' }),
  );
  codes.end();
  for (const table of ['message', 'verification'] as const) await readEvents(database, table, applicationId, ledger);
}

const failedSubmits = `(select count(*) from text_attempt a
  where a.message_id = r.id and a.outcome <> ${attemptOutcomes.indexOf('accepted')})::integer`;

async function readPages(
  database: Database,
  table: 'message' | 'verification',
  applicationId: string,
  take: (row: Row) => void,
): Promise<void> {
  for (let last = '00000000-0000-0000-0000-000000000000'; ; ) {
    const { rows } = await database.query<Row>(
      `select id, reference, status, ${table === 'message' ? failedSubmits : 0} as "failedSubmits" from ${table} r
       where application_id = $1 and id > $2 order by id limit ${pageRows}`,
      [uuidOf(applicationId), last],
    );
    for (const row of rows) take(row);
    const end = rows.at(-1)?.id;
    if (end === undefined) return;
    last = end;
  }
}

async function readEvents(
  database: Database,
  table: 'message' | 'verification',
  applicationId: string,
  ledger: Ledger,
): Promise<void> {
  for (let last = '0'; ; ) {
    const { rows } = await database.query<{ position: string; reference: string; sequence: number; api: number }>(
      `select e.position, r.reference, e.sequence, e.api from event e join ${table} r on r.id = e.subject
       where e.application_id = $1 and e.position > $2 order by e.position limit ${pageRows}`,
      [uuidOf(applicationId), last],
    );
    for (const { reference, sequence, api } of rows) {
      checkEvent(ledger, { reference, sequence, isSms: apiNames[api] === 'sms' });
    }
    const end = rows.at(-1)?.position;
    if (end === undefined) return;
    last = end;
  }
}
