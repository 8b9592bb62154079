import { unavailable } from '../platform/errors.ts';

/** Together longer than a lease: by then the worker that held it is gone. */
const maxPolls = 350;
const betweenPollsMs = 20;

const pauseBetweenPolls = () => new Promise<void>((resolve) => setTimeout(resolve, betweenPollsMs));

/** Waits until the workers have given the webhooks back, or their leases have expired. */
export async function untilGivenBack(isHeld: () => Promise<boolean>, pause = pauseBetweenPolls): Promise<void> {
  for (let polls = 0; await isHeld(); polls++) {
    if (polls === maxPolls) throw unavailable('The change was saved, but not every worker has applied it yet.');
    await pause();
  }
}
