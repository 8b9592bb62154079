// Tests: test/contract/operator-deliveries.test.ts
import type { WaitingText } from '../delivery/queue/waiting-texts.ts';
import type { KnownCarrier } from '../delivery/routing/directory.ts';

export interface Advice {
  reason: string;
  advice: string;
}

export interface AdviceFacts {
  text: Pick<WaitingText, 'place' | 'attempt' | 'inDoubt' | 'api'>;
  carrierName: string;
  /** Undefined once the carrier is deleted; null for the carrier of the virtual handsets. */
  carrier: Pick<KnownCarrier, 'paused' | 'state' | 'binds'> | undefined | null;
  /** No route matches its number. */
  unroutable: boolean;
}

/** Why a text waits, and what an operator can do about it. The first rule that matches counts. */
export function adviseOn({ text, carrierName: name, carrier, unroutable }: AdviceFacts): Advice {
  if (text.place === 'wire')
    return {
      reason: `${name} has not answered yet.`,
      advice: `Wait a minute. Then check the log and the state of ${name}.`,
    };
  if (text.inDoubt)
    return {
      reason: `${name} did not answer. The text may have arrived.`,
      advice:
        text.api === 'verify'
          ? 'Nothing to do: the same code is sent again.'
          : `Find the text in the log of ${name} before you send it another way. A receipt settles it. Without one, the carrier’s setting on_doubt decides.`,
    };
  if (unroutable) return { reason: 'No route matches its number.', advice: 'Add a route, or let the text expire.' };
  if (carrier === undefined)
    return {
      reason: `${name} is deleted.`,
      advice: 'A worker moves it to another carrier that its route allows. Add one if there is none.',
    };
  if (carrier?.paused) return { reason: `${name} is paused.`, advice: `Resume ${name}.` };
  if (carrier?.state === 'not_running')
    return { reason: `No worker runs ${name}.`, advice: 'Start the service, or a node with HELIOGRAPH_ROLE=worker.' };
  if (carrier?.state === 'down') {
    const error = carrier.binds.find((bind) => bind.error !== null)?.error;
    return {
      reason: `${name} is not connected.${error === undefined || error === null ? '' : ` ${error}`}`,
      advice: `Test ${name}: each step shows what is wrong. Or pause it, so that codes take another carrier.`,
    };
  }
  if (text.attempt > 0)
    return {
      reason: `${name} asked to retry later (${text.attempt} ${text.attempt === 1 ? 'attempt' : 'attempts'} so far).`,
      advice: `Check the errors in the log of ${name}. If it asks for fewer texts, lower per_second or ask the provider for more.`,
    };
  return {
    reason: `${name} is at its rate limit. Other texts go first.`,
    advice: 'Raise per_second or window if the provider allows it, or add another carrier to the route.',
  };
}
