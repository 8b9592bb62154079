import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Connection } from '../connections/connection.ts';
import { followsPrimary } from './hosts.ts';
import { createPrimary, type Primary } from './primary.ts';

/** Undefined for a single host, which is simply used. */
export function createPrimaryOf(connection: Connection, clock: Clock, log: Log): Primary | undefined {
  const url = 'url' in connection ? connection.url : undefined;
  return url !== undefined && followsPrimary(url) ? createPrimary({ url, clock, log }) : undefined;
}
