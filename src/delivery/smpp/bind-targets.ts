// Tests: test/smpp/bind-supervisor.test.ts
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { ConnectionTarget } from '../../smpp/connection.ts';
import type { BindOptions } from './bind-options.ts';

const resolveWithinMs = 10_000;

/** The addresses of a carrier in turn: every attempt takes the next host, and the next address of that host. */
export interface BindTargets {
  /** Throws an error with a sentence if the name does not resolve, or to an address that is not allowed. */
  next(): Promise<ConnectionTarget>;
}

export function createBindTargets({
  settings: read,
  isAllowedAddress,
  resolve = resolveName,
}: BindOptions): BindTargets {
  const settings = read();
  const { local_address: localAddress, tls } = settings;
  const hosts = [{ host: settings.host, port: settings.port }, ...settings.hosts];
  let tries = 0;

  return {
    async next() {
      const turn = tries++;
      const { host, port } = hosts[turn % hosts.length] ?? settings;
      const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host];
      if (addresses.length === 0) throw new Error(`The name ${host} does not resolve to an address.`);
      const address = addresses[Math.floor(turn / hosts.length) % addresses.length] ?? host;
      if (!isAllowedAddress(address)) {
        throw new Error(`${host} leads to ${address}, which is not allowed here: the sandbox uses only loopback.`);
      }
      return { host, address, port, localAddress, tls };
    },
  };
}

/** The system's resolver has no time limit of its own that we can set. */
async function resolveName(host: string): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the resolver did not answer')), resolveWithinMs);
  });
  try {
    const found = await Promise.race([lookup(host, { all: true }), late]);
    return found.map(({ address }) => address);
  } finally {
    clearTimeout(timer);
  }
}
