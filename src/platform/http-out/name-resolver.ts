import { type LookupAddress, Resolver as NameServers } from 'node:dns';
import type { Resolver } from './address-guard.ts';

const mostAddresses = 16;

/**
 * Resolves names that developers give. Node's `lookup` would hold one of the process's four helper threads for as long as a
 * name server keeps silent, and passwords and files need them; this one asks name servers from the event loop.
 */
export function createNameResolver({ timeoutMs = 2000, tries = 2 } = {}): Resolver {
  const servers = new NameServers({ timeout: timeoutMs, tries });
  return (host, _, done) => {
    if (host === 'localhost' || host.endsWith('.localhost')) return done(null, ownAddresses);
    let left = 2;
    let failed: NodeJS.ErrnoException | null = null;
    const found: LookupAddress[] = [];
    const add = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: string[]) => {
      // A name that has no addresses of one family is fine.
      if (error === null) found.push(...addresses.map((address) => ({ address, family })));
      else failed = error;
      if (--left > 0) return;
      if (found.length === 0 && failed !== null) done(failed, []);
      else done(null, found.slice(0, mostAddresses));
    };
    servers.resolve4(host, add(4));
    servers.resolve6(host, add(6));
  };
}

const ownAddresses: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
