// Tests: test/parts/smpp-connection-test.test.ts, test/contract/operator-carriers.test.ts
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import type { Environment } from '../../platform/environment.ts';
import type { FieldProblem } from '../../platform/errors.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether a carrier may be connected at an address. No text of the sandbox leaves the machine. */
export function isAllowedAddress(environment: Environment): (address: string) => boolean {
  if (environment === 'production') return () => true;
  return (address) => {
    const family = isIP(address);
    return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}

const resolveWithinMs = 5000;

/** The addresses of a host; undefined when it has none, or when its name server does not answer in time. */
async function resolveHost(host: string): Promise<string[] | undefined> {
  let late: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((done) => {
    late = setTimeout(() => done(undefined), resolveWithinMs);
  });
  const found = lookup(host, { all: true }).then(
    (addresses) => addresses.map(({ address }) => address),
    () => undefined,
  );
  const addresses = await Promise.race([found, tooLate]);
  clearTimeout(late);
  return addresses;
}

/**
 * Checks the hosts of a carrier when it is created or changed. Each connect checks again, because a name may by then resolve
 * to another address.
 */
export async function addressProblems(
  environment: Environment,
  hosts: readonly { field: string; host: string }[],
): Promise<FieldProblem[]> {
  if (environment === 'production') return [];
  const isAllowed = isAllowedAddress(environment);
  const problems = await Promise.all(
    hosts.map(async ({ field, host }): Promise<FieldProblem[]> => {
      const addresses = await resolveHost(host);
      if (addresses === undefined || addresses.length === 0)
        return [{ field, message: 'must have an address: this name could not be resolved' }];
      const foreign = addresses.find((address) => !isAllowed(address));
      if (foreign === undefined) return [];
      const message = `must be on this machine, like 127.0.0.1: no text leaves the sandbox (${foreign}; HELIOGRAPH_ENV is sandbox)`;
      return [{ field, message }];
    }),
  );
  return problems.flat();
}
