import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Clock } from '../../platform/clock.ts';
import type { TestStep } from '../carrier-test-store.ts';
import { describeBindRefusal } from './bind-refusals.ts';
import type { ConnectionTarget } from './connection.ts';
import type { DecodedPdu } from './decode-pdu.ts';
import { createLink, type Link } from './link.ts';
import { interfaceVersion } from './pdu.ts';
import { createPduLog } from './pdu-log.ts';
import type { SmppSettings } from './smpp-settings.ts';

export interface ConnectionTestOptions {
  /** With their secrets. */
  settings: SmppSettings;
  clock: Clock;
  isAllowedAddress: (address: string) => boolean;
  /** Whether the carrier is bound by its own connections: it may then refuse one more. */
  isBound: () => boolean;
  onStep: (step: TestStep) => Promise<void>;
}

const stepMs = 10_000;
const unbindMs = 5000;
const bindSequence = 1;
const unbindSequence = 2;

/**
 * The first four steps of a test, on a connection of its own: resolves the name, connects, agrees on TLS, binds as a
 * transmitter and unbinds. Returns whether all of them passed.
 */
export async function testConnection(options: ConnectionTestOptions): Promise<boolean> {
  const { settings, clock, onStep } = options;
  const beganMs = clock.steadyMs();
  const found = await resolve(options);
  await onStep({ step: 'name', ...found.told, tookMs: clock.steadyMs() - beganMs });
  if (found.address === undefined) return false;
  const { host, port, local_address: localAddress, tls } = settings;
  for (const step of await tryBind({ host, address: found.address, port, localAddress, tls }, options)) {
    await onStep(step);
    if (!step.ok) return false;
  }
  return true;
}

interface Told {
  ok: boolean;
  detail: string;
}

async function resolve(options: ConnectionTestOptions): Promise<{ told: Told; address?: string }> {
  const { host, hosts } = options.settings;
  const addresses = isIP(host) === 0 ? await withTimeout(namesOf(host), stepMs, []) : [host];
  const [address] = addresses;
  if (address === undefined) return { told: { ok: false, detail: `The name ${host} does not resolve to an address.` } };
  if (!options.isAllowedAddress(address)) {
    const detail = `${host} leads to ${address}, which is not allowed here: the sandbox uses only this machine.`;
    return { told: { ok: false, detail } };
  }
  const others = hosts.length === 0 ? '' : ` The other ${hosts.length} of its hosts are not tested.`;
  return {
    told: { ok: true, detail: `${host} has the address ${addresses.slice(0, 8).join(', ')}.${others}` },
    address,
  };
}

async function namesOf(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

/** Connects, binds and unbinds. Every step that was begun is in the result; the last one may have failed. */
function tryBind(target: ConnectionTarget, { settings, clock, isBound }: ConnectionTestOptions): Promise<TestStep[]> {
  const where = `${target.host}:${target.port}`;
  const steps: TestStep[] = [];
  let current: 'connection' | 'tls' | 'bind' = 'connection';
  let beganMs = clock.steadyMs();
  let link: Link | undefined;

  return new Promise((done) => {
    let timer = setTimeout(() => fail(`${where} did not answer within ${stepMs / 1000} seconds.`), stepMs);

    function note(ok: boolean, detail: string): void {
      steps.push({ step: current, ok, detail, tookMs: clock.steadyMs() - beganMs });
      beganMs = clock.steadyMs();
    }
    function end(): void {
      clearTimeout(timer);
      link?.close(true);
      done(steps);
    }
    function fail(detail: string): void {
      if (steps.at(-1)?.step !== 'bind') note(false, detail);
      end();
    }
    function enter(next: 'tls' | 'bind', detail: string): void {
      note(true, detail);
      current = next;
      clearTimeout(timer);
      timer = setTimeout(() => fail(`${where} did not answer within ${stepMs / 1000} seconds.`), stepMs);
    }
    function onConnected(): void {
      enter('tls', `${where} (${target.address}) takes connections.`);
    }
    function onReady(): void {
      if (target.tls === false) {
        onConnected();
        enter('bind', 'TLS is off.');
      } else {
        enter('bind', 'The certificate of the carrier is right.');
      }
      link?.send({ command: 'bind_transmitter', status: 0, sequence: bindSequence, ...bindFields(settings) });
    }
    function onPdu({ pdu }: DecodedPdu): void {
      const isAnswered = steps.at(-1)?.step === 'bind';
      if (pdu.command === 'enquire_link') link?.send({ ...pdu, command: 'enquire_link_resp' });
      else if (isAnswered && pdu.command === 'unbind_resp') end();
      else if (isAnswered || pdu.sequence !== bindSequence) return;
      else if (pdu.command === 'generic_nack') onRefused(pdu.status);
      else if (pdu.command === 'bind_transmitter_resp') onBindAnswer(pdu.status);
    }
    function onBindAnswer(status: number): void {
      if (status !== 0) {
        onRefused(status);
        return;
      }
      note(true, `${where} accepted the bind.`);
      clearTimeout(timer);
      timer = setTimeout(end, unbindMs);
      link?.send({ command: 'unbind', status: 0, sequence: unbindSequence });
    }
    function onRefused(status: number): void {
      const refusal = describeBindRefusal(where, status);
      note(isBound(), isBound() ? `${refusal} That is fine: the carrier is bound, and allows no more binds.` : refusal);
      end();
    }

    link = createLink({
      target,
      clock,
      log: createPduLog(clock),
      onConnected,
      onReady,
      onPdu,
      onQuiet: () => {},
      onNoise: fail,
      onEnded: (sentence) => fail(sentence ?? `${where} closed the connection.`),
    });
  });
}

function bindFields({ system_id, password = '', system_type, address_range }: SmppSettings) {
  return {
    systemId: system_id,
    password,
    systemType: system_type,
    interfaceVersion,
    addressTon: 0,
    addressNpi: 0,
    addressRange: address_range,
  };
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
