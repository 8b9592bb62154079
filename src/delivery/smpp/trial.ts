// Tests: test/smpp/carrier-trial.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { Carrier } from '../carrier/carrier.ts';
import type { ClaimedTest, TestStep } from '../carrier/test-store.ts';
import type { BindState, BindSupervisor } from './bind-supervisor.ts';
import { testConnection } from './connection-test.ts';
import type { ReceiptInbox } from './receipt-inbox.ts';
import type { SmppSettings } from './settings.ts';
import { testText } from './text-test.ts';

export interface CarrierTrialOptions {
  settings: () => SmppSettings;
  clock: Clock;
  isAllowedAddress: (address: string) => boolean;
  /** The binds that this node holds. */
  supervisors: () => readonly BindSupervisor[];
  submit: Carrier['submit'];
}

/** Longer than an attempt to connect and bind takes. */
const settleMs = 25_000;
const lookEveryMs = 50;

/** An operator's test of a carrier. It uses a bind that is up, and makes one of its own only if none is. */
export function createCarrierTrial(options: CarrierTrialOptions) {
  const { settings, clock, isAllowedAddress, supervisors, submit } = options;
  let isConnecting = false;

  const stateOfBinds = () => supervisors().map(({ state }) => state);
  const isUp = ({ state }: BindState) => state === 'bound' || state === 'degraded';
  const isTrying = ({ state }: BindState) => state === 'connecting' || state === 'binding';

  async function until(holds: () => boolean): Promise<void> {
    const untilMs = clock.steadyMs() + settleMs;
    while (!holds() && clock.steadyMs() < untilMs) await new Promise((done) => setTimeout(done, lookEveryMs));
  }

  /** Connects as the carrier would. Returns whether the carrier may be bound now. */
  async function tryConnection(onStep: (step: TestStep) => Promise<void>): Promise<boolean> {
    isConnecting = true;
    const passed = await testConnection({ settings: settings(), clock, isAllowedAddress, onStep }).finally(() => {
      isConnecting = false;
    });
    if (!passed) return false;
    for (const supervisor of supervisors()) supervisor.tryNow({ justUnbound: true });
    await until(() => stateOfBinds().some(isUp));
    return true;
  }

  return {
    /** True while it has a connection of its own: the carrier must not open another one. */
    get isConnecting(): boolean {
      return isConnecting;
    },
    async run(test: ClaimedTest, inbox: ReceiptInbox, onStep: (step: TestStep) => Promise<void>): Promise<void> {
      // An attempt under way may bind at any moment.
      await until(() => stateOfBinds().some(isUp) || !stateOfBinds().some(isTrying));
      const up = stateOfBinds().find(isUp);
      if (up !== undefined) for (const step of stepsInUse(up, settings())) await onStep(step);
      else if (!(await tryConnection(onStep))) return;
      await testText({ test, settings: settings(), clock, submit, watchReceipts: inbox.watch, onStep });
    },
  };
}

/** Reports the first four steps from a session that is up. The test opens none: some carriers would close the first. */
function stepsInUse({ host, since, mode, state, error }: BindState, { tls }: SmppSettings): TestStep[] {
  const what = mode === 'pair' ? 'a transmitter and a receiver' : 'a transceiver';
  const bound =
    state === 'bound' ? `Already bound as ${what} since ${since}.` : `Already bound since ${since}. ${error ?? ''}`;
  const details = [
    ['name', `The open connection goes to ${host}.`],
    ['connection', `Already connected to ${host}.`],
    ['tls', tls === false ? 'TLS is off.' : 'The carrier’s certificate was valid when the connection opened.'],
    ['bind', `${bound} The test uses it and makes no further bind.`],
  ] as const;
  return details.map(([step, detail]) => ({ step, ok: true, detail, tookMs: 0 }));
}
