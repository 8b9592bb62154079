import type { Connection } from './database.ts';

/** The settings of nodes on one database. */
export const sharedSettings = {
  LOG_LEVEL: 'warn',
  HELIOGRAPH_SECRET: 'a secret that all nodes share',
  HELIOGRAPH_PUBLIC_URL: 'http://127.0.0.1:1',
  // All callers of a test have the same address, and that is not what these tests are about.
  HELIOGRAPH_ADDRESS_PER_MINUTE: '1000000',
  HELIOGRAPH_ADDRESS_BURST: '1000000',
};

export function urlOf({ host, port, user, password, database }: Connection): string {
  return `postgres:///${database}?${new URLSearchParams({ host, port: String(port), user, password })}`;
}
