import { sqlStateOf } from './errors.ts';

const mostTries = 5;

/** Repeats a transaction that Postgres rolled back because it collided with another: a deadlock, or a stale snapshot. */
export async function retryCollisions<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction();
    } catch (error) {
      const collided = /^40(001|P01)$/.test(sqlStateOf(error) ?? '');
      if (!collided || tries === mostTries) throw error;
    }
  }
}
