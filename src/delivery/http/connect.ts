import { lookup } from 'node:dns/promises';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../platform/clock.ts';
import { type AddressGuard, hostOf } from '../../platform/http-out/address-guard.ts';
import type { TestStep } from '../carrier/test-store.ts';
import { describeHttpError } from './errors.ts';

export interface ConnectOptions {
  /** Any URL of the provider's host. */
  url: string;
  ca?: string | undefined;
  guard: AddressGuard;
  clock: Clock;
}

const stepMs = 10_000;

/** Resolves the name, connects and agrees on TLS, without a request. Every step that was begun is in the result. */
export async function tryConnection({ url: given, ca, guard, clock }: ConnectOptions): Promise<TestStep[]> {
  const url = new URL(given);
  const host = hostOf(url);
  const isTls = url.protocol === 'https:';
  const port = Number(url.port) || (isTls ? 443 : 80);
  const steps: TestStep[] = [];
  let beganMs = clock.steadyMs();
  const note = (step: TestStep['step'], ok: boolean, detail: string) => {
    steps.push({ step, ok, detail, tookMs: clock.steadyMs() - beganMs });
    beganMs = clock.steadyMs();
    return ok;
  };
  const addresses = await addressesOf(host);
  const [address] = addresses;
  if (address === undefined) {
    note('name', false, `The name ${host} does not resolve to an address.`);
    return steps;
  }
  const bad = addresses.find((each) => !guard.isAllowed(each));
  if (
    !note(
      'name',
      bad === undefined,
      `${host} has the address ${bad ?? address}${bad === undefined ? '' : ', which is not allowed: production needs allow_private for private addresses, and the sandbox uses only loopback'}.`,
    )
  )
    return steps;
  const refused = await opened(connectPlain({ host: address, port }), 'connect', `${host}:${port}`);
  if (!note('connection', refused === undefined, refused ?? `${host}:${port} takes connections.`)) return steps;
  if (!isTls) {
    note('tls', true, 'TLS is off.');
    return steps;
  }
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket = connectTls({
    host: address,
    port,
    minVersion: 'TLSv1.2',
    ...servername,
    ...(ca !== undefined && { ca }),
  });
  const wrong = await opened(socket, 'secureConnect', host);
  note('tls', wrong === undefined, wrong ?? 'The certificate of the provider is right.');
  return steps;
}

async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.slice(0, 8).map(({ address }) => address);
}

/** Waits for the event, and closes the socket. Returns the error, or undefined if the event came. */
function opened(socket: Socket, event: string, where: string): Promise<string | undefined> {
  return new Promise((done) => {
    const end = (reason?: string) => {
      clearTimeout(late);
      socket.destroy();
      done(reason);
    };
    const late = setTimeout(() => end(`${where} did not answer within ${stepMs / 1000} seconds.`), stepMs);
    socket.once(event, () => end());
    socket.on('error', (error) => end(describeHttpError(error, where)));
  });
}
