import { unavailable } from '../platform/errors.ts';

/** Together more than a lease: then the worker that holds it is gone. */
const looksAtMost = 350;
const betweenLooksMs = 20;

const pauseBetweenLooks = () => new Promise<void>((resolve) => setTimeout(resolve, betweenLooksMs));

/** Waits until the workers have given back what they were asked for, or their leases have ended. */
export async function untilGivenBack(isHeld: () => Promise<boolean>, pause = pauseBetweenLooks): Promise<void> {
  for (let look = 0; await isHeld(); look++) {
    if (look === looksAtMost) throw unavailable('The change was saved, but is not in effect everywhere yet.');
    await pause();
  }
}
