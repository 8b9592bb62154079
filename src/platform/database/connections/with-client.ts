import type { ClientBase, Pool } from 'pg';
import { CommitInDoubt, isConnectionLoss, keepsConnectionUsable, translateError } from '../errors.ts';
import type { CommitWatch } from './commit-watch.ts';
import { run, type Tx } from './statement.ts';

/** Lends a connection of the pool. One that broke, or on which a statement took too long, is destroyed. */
export async function withClient<Result>(
  pool: Pool,
  work: (client: ClientBase, giveUp: () => void) => Promise<Result>,
  limitMs: number,
): Promise<Result> {
  const client = await pool.connect().catch((error: unknown) => {
    throw translateError(error);
  });
  // pg would return a connection whose query timed out to the pool. We destroy it instead.
  let released = false;
  const release = (destroy: boolean) => {
    if (released) return;
    released = true;
    client.release(destroy);
  };
  const deadline = setTimeout(() => release(true), limitMs);
  try {
    const result = await work(client, () => release(true));
    release(false);
    return result;
  } catch (error) {
    const translated = translateError(error);
    release(translated !== error && !keepsConnectionUsable(error));
    throw translated;
  } finally {
    clearTimeout(deadline);
  }
}

/** Runs the work between BEGIN and COMMIT. */
export async function transact<Result>(
  client: ClientBase,
  giveUp: () => void,
  commits: CommitWatch,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  await client.query('begin');
  try {
    const result = await work({ query: (statement, values) => run(client, statement, values) });
    commits.begin(client);
    await commit(client);
    commits.require(client);
    return result;
  } catch (error) {
    // Report the first error, not a failed rollback after it.
    if (!isConnectionLoss(error)) await client.query('rollback').catch(giveUp);
    throw error;
  }
}

async function commit(client: ClientBase): Promise<void> {
  const { command } = await client.query('commit').catch((error: unknown) => {
    throw isConnectionLoss(error) ? new CommitInDoubt(error) : error;
  });
  // If a caller swallowed a statement's error, COMMIT rolls back but reports success.
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back because a statement in it had failed');
}
