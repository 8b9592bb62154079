import { advisoryLocks } from '../../platform/database/advisory-locks.ts';
import type { Database, Session } from '../../platform/database/database.ts';
import { CommitInDoubt, isConnectionLoss } from '../../platform/database/errors.ts';
import { retryCollisions } from '../../platform/database/retry-collisions.ts';
import { StartError } from '../../platform/errors.ts';

const waitMs = 60_000;
const betweenTriesMs = 100;

/**
 * Runs work with a database whose transactions are all part of one. The work sees one snapshot, and runs alone. If
 * another change was made meanwhile, it starts again.
 */
export async function inOneTransaction<Result>(
  database: Database,
  work: (held: Database) => Promise<Result>,
  onWait: () => void,
): Promise<Result> {
  const session = await database.openSession(() => {});
  try {
    await takeTurn(session, onWait);
    return await retryCollisions(() => run(database, session, work));
  } finally {
    await session.close();
  }
}

/** A lock of the session: a lock of the transaction would wait after its snapshot was taken. */
async function takeTurn(session: Session, onWait: () => void): Promise<void> {
  for (let waitedMs = 0; waitedMs < waitMs; waitedMs += betweenTriesMs) {
    const { rows } = await session.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [
      advisoryLocks.declaredConfiguration,
    ]);
    if (rows[0]?.mine === true) return;
    if (waitedMs === 0) onWait();
    await new Promise((done) => setTimeout(done, betweenTriesMs));
  }
  throw new StartError('Another apply has been under way for a minute. Nothing has been changed.');
}

async function run<Result>(
  database: Database,
  session: Session,
  work: (held: Database) => Promise<Result>,
): Promise<Result> {
  await session.query('begin isolation level repeatable read');
  try {
    const held: Database = { ...database, query: session.query, transaction: (inner) => inner(held) };
    const result = await work(held);
    // In a transaction that has failed this throws, where COMMIT would roll back and say nothing.
    await session.query('select 1');
    await session.query('commit').catch((error: unknown) => {
      throw isConnectionLoss(error) ? new CommitInDoubt(error) : error;
    });
    return result;
  } catch (error) {
    await session.query('rollback').catch(() => {});
    throw error;
  }
}
