// Tests: test/parts/smpp-connection-test.test.ts
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Clock } from '../../platform/clock.ts';
import { isUnknownBind, mayBeWrongKind } from '../../smpp/bind-refusals.ts';
import type { ConnectionTarget } from '../../smpp/connection.ts';
import type { TestStep } from '../carrier/test-store.ts';
import type { StepReport } from '../carrier/test-text.ts';
import type { SmppSettings } from './settings.ts';
import { type TriedBind, tryBind } from './trial-bind.ts';

const stepMs = 10_000;

export interface ConnectionTestOptions {
  /** With their secrets. */
  settings: SmppSettings;
  clock: Clock;
  isAllowedAddress: (address: string) => boolean;
  onStep: (step: TestStep) => Promise<void>;
}

/**
 * The first four steps of a test, on connections of its own: resolves the name, connects, agrees on TLS, binds as the
 * carrier does and unbinds. Only for a carrier that is not bound: some carriers close a session when a new one binds.
 * Returns whether all of them passed.
 */
export async function testConnection(options: ConnectionTestOptions): Promise<boolean> {
  const { settings, clock, onStep } = options;
  const beganMs = clock.steadyMs();
  const found = await resolve(options);
  await onStep({ step: 'name', ...found.report, tookMs: clock.steadyMs() - beganMs });
  if (found.address === undefined) return false;
  const { host, port, local_address: localAddress, tls } = settings;
  for (const step of await tryMode({ host, address: found.address, port, localAddress, tls }, options)) {
    await onStep(step);
    if (!step.ok) return false;
  }
  return true;
}

/** Like the carrier's own connections: one that refuses a transceiver may take a pair. */
async function tryMode(target: ConnectionTarget, options: ConnectionTestOptions): Promise<TestStep[]> {
  if (options.settings.bind === 'pair') return (await tryPair(target, options)).steps;
  const { steps, failure } = await tryBind('bind_transceiver', target, options);
  if (failure === undefined || !(isUnknownBind(failure) || mayBeWrongKind(failure))) return steps;
  const pair = await tryPair(target, options);
  const [transceiver, both] = [steps.at(-1), pair.steps.at(-1)];
  if (pair.failure !== undefined || transceiver === undefined || both?.ok !== true) return steps;
  const detail = `${both.detail} It takes no transceiver, so set bind to pair.`;
  return [...steps.slice(0, -1), { ...both, detail, tookMs: transceiver.tookMs + both.tookMs }];
}

async function tryPair(target: ConnectionTarget, options: ConnectionTestOptions): Promise<TriedBind> {
  const first = await tryBind('bind_transmitter', target, options);
  if (first.failure !== undefined || first.steps.at(-1)?.step !== 'bind') return first;
  const second = await tryBind('bind_receiver', target, options);
  const [transmitter, receiver] = [first.steps.at(-1), second.steps.at(-1)];
  if (transmitter === undefined || receiver === undefined) return first;
  const tookMs = transmitter.tookMs + receiver.tookMs;
  const { ok } = receiver;
  const detail = ok
    ? `${target.host}:${target.port} accepted the binds of a transmitter and of a receiver.`
    : `The transmitter was bound, the receiver was not: ${receiver.detail}`;
  return { ...second, steps: [...first.steps.slice(0, -1), { step: 'bind', ok, detail, tookMs }] };
}

async function resolve(options: ConnectionTestOptions): Promise<{ report: StepReport; address?: string }> {
  const { host, hosts } = options.settings;
  const addresses = isIP(host) === 0 ? await withTimeout(namesOf(host), stepMs, []) : [host];
  const [address] = addresses;
  if (address === undefined)
    return { report: { ok: false, detail: `The name ${host} does not resolve to an address.` } };
  if (!options.isAllowedAddress(address)) {
    const detail = `${host} leads to ${address}, which is not allowed here: the sandbox uses only this machine.`;
    return { report: { ok: false, detail } };
  }
  const others = hosts.length === 0 ? '' : ` The other ${hosts.length} of its hosts are not tested.`;
  return {
    report: { ok: true, detail: `${host} has the address ${addresses.slice(0, 8).join(', ')}.${others}` },
    address,
  };
}

async function namesOf(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

async function withTimeout<Value>(work: Promise<Value>, ms: number, otherwise: Value): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Value>((done) => {
    timer = setTimeout(() => done(otherwise), ms);
  });
  const value = await Promise.race([work, late]);
  clearTimeout(timer);
  return value;
}
