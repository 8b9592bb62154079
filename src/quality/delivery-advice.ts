// Tests: test/contract/operator-deliveries.test.ts
import type { WaitingText } from '../delivery/queue/waiting-texts.ts';
import { type WaitFacts, type WaitKind, waitOf } from './waiting/reason.ts';

export interface Advice {
  reason: string;
  advice: string;
}

/** Why a text waits, and what an operator can do about it. */
export function adviseOn(facts: WaitFacts & Pick<WaitingText, 'api'>): Advice {
  const { kind, forOperators: reason } = waitOf(facts);
  return { reason, advice: kind === 'in_doubt' ? adviceInDoubt(facts) : advices[kind](facts.carrierName) };
}

function adviceInDoubt({ api, carrierName: name }: Parameters<typeof adviseOn>[0]): string {
  if (api === 'verify') return 'Nothing to do: the same code is sent again.';
  return `Find the text in the log of ${name} before you send it another way. A receipt settles it. Without one, the carrier’s setting on_doubt decides.`;
}

const nothing = () => 'Nothing to do: the text is sent at that time.';
const advices: Record<Exclude<WaitKind, 'in_doubt'>, (name: string) => string> = {
  sending: (name) => `Wait a minute. Then check the log and the state of ${name}.`,
  scheduled: nothing,
  hours: nothing,
  unroutable: () => 'Add a route, or let the text expire.',
  deleted: () => 'A worker moves it to another carrier that its route allows. Add one if there is none.',
  paused: (name) => `Resume ${name}.`,
  not_running: () => 'Start the service, or a node with HELIOGRAPH_ROLE=worker.',
  down: (name) => `Test ${name}: each step shows what is wrong. Or pause it, so that codes take another carrier.`,
  throttled: (name) => `Lower per_second of ${name} to the rate of your contract, or ask the provider for more.`,
  retry: (name) => `Check the errors in the log of ${name}, or ask the provider.`,
  rate_limit: () => 'Raise per_second or window if the provider allows it, or add another carrier to the route.',
};
