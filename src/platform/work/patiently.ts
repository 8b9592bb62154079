import { ApiError, causeOf, StartError } from '../errors.ts';

const withinMs = 30_000;
const tryAgainMs = 250;

/**
 * Repeats a step of a start while the database does not answer in time: no caller waits yet, and a machine on which many
 * things start at once is slow. The step must be harmless to repeat.
 */
export async function patiently<Result>(step: () => Promise<Result>): Promise<Result> {
  for (const untilMs = performance.now() + withinMs; ; ) {
    try {
      return await step();
    } catch (error) {
      const isBusy = error instanceof ApiError && error.code === 'UNAVAILABLE';
      if (!isBusy) throw error;
      if (performance.now() > untilMs)
        throw new StartError(`The database is too slow to start with: ${causeOf(error)}`);
      await new Promise((resolve) => setTimeout(resolve, tryAgainMs));
    }
  }
}
