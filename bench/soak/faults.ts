import { usualBehaviour } from '../../src/smsc/faults.ts';
import type { Carriers } from './carriers.ts';

/** Something that goes wrong outside of the service for a while. */
export interface Fault {
  name: string;
  begin(): void | Promise<void>;
  end(): void | Promise<void>;
}

export interface Faults {
  /** The name of the fault that is injected now. */
  now(): string | undefined;
  /** Whether one is injected, or was in the last seconds: the service may still be busy with what it left. */
  isFelt(): boolean;
  spans(): { name: string; fromMs: number; toMs: number }[];
  stop(): Promise<void>;
}

export interface WebhookEndpoint {
  /** Every call gets this status while it is set. */
  status: number | undefined;
}

export function createFaultList({ smsc, provider }: Carriers, endpoint: WebhookEndpoint): Fault[] {
  const smscDoes = (name: string, change: Parameters<typeof smsc.change>[0]): Fault => ({
    name,
    begin: () => smsc.change(change),
    end: () => smsc.change(usualBehaviour()),
  });
  const providerDoes = (name: string, fault: typeof provider.always): Fault => ({
    name,
    begin: () => {
      provider.always = fault;
    },
    end: () => {
      provider.always = undefined;
    },
  });
  return [
    smscDoes('the SMSC throttles', { throttle_every: 3 }),
    providerDoes('the provider is busy', { status: 429, headers: { 'Retry-After': '1' } }),
    {
      name: 'the webhook endpoint fails',
      begin: () => {
        endpoint.status = 500;
      },
      end: () => {
        endpoint.status = undefined;
      },
    },
    { name: 'the SMSC is down', begin: () => smsc.goDown(), end: () => smsc.comeBack() },
    providerDoes('the provider fails', { status: 503 }),
    smscDoes('the SMSC is slow and sends receipts twice', { slow_ms: 700, receipts_twice: true }),
    smscDoes('the SMSC refuses some', { refuse_every: 20 }),
    smscDoes('the SMSC leaves some unanswered', { silent_every: 25 }),
    providerDoes('the provider resets connections', 'reset'),
    smscDoes('the SMSC cuts connections', { drop_after: 40 }),
  ];
}

const feltForMs = 5000;

/** Injects one after the other: each `everyMs`, for `lastsMs`, the first after `everyMs`. */
export function startFaults(list: Fault[], { everyMs, lastsMs }: { everyMs: number; lastsMs: number }): Faults {
  const spans: ReturnType<Faults['spans']> = [];
  let current: { fault: Fault; fromMs: number } | undefined;
  let feltUntilMs = 0;
  let turns = 0;
  let changing: Promise<void> = Promise.resolve();

  async function begin(): Promise<void> {
    // On a stalled machine the end of the one before may be late.
    await end();
    const fault = list[turns++ % list.length];
    if (fault === undefined) return;
    current = { fault, fromMs: Date.now() };
    await fault.begin();
  }
  async function end(): Promise<void> {
    if (current === undefined) return;
    const { fault, fromMs } = current;
    await fault.end();
    current = undefined;
    spans.push({ name: fault.name, fromMs, toMs: Date.now() });
    feltUntilMs = performance.now() + feltForMs;
  }
  const inTurn = (act: () => Promise<void>) => {
    changing = changing.then(act);
  };
  let ending: NodeJS.Timeout | undefined;
  const timer = setInterval(() => {
    inTurn(begin);
    ending = setTimeout(inTurn, lastsMs, end);
  }, everyMs);
  return {
    now: () => current?.fault.name,
    isFelt: () => current !== undefined || performance.now() < feltUntilMs,
    spans: () => spans,
    async stop() {
      clearInterval(timer);
      clearTimeout(ending);
      inTurn(end);
      await changing;
    },
  };
}
