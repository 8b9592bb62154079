import { fileURLToPath } from 'node:url';
import type { NodeWindows } from '../edge/node-windows.ts';
import type { JwsSigner } from '../identity/sign-jws.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { ClockWatch } from '../platform/database/clock-check.ts';
import type { Database } from '../platform/database/database.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import type { Tracer } from '../platform/tracing/tracer.ts';
import type { Config } from '../settings/settings.ts';

/** The dependencies that every part of the app shares. */
export interface Foundation {
  version: string;
  config: Config;
  clock: Clock;
  database: Database;
  /** A small pool for portal, lists, usage, health and streams: their slow reads take no connection from the APIs. */
  sideDatabase: Database;
  keys: KeyRing;
  log: Log;
  metrics: Metrics;
  /** In this process, or in the parent of the node's processes. */
  windows: NodeWindows;
  /** Left out in tests, which set their clock: it then counts as right. */
  clockWatch?: Pick<ClockWatch, 'isRight'> | undefined;
  /** Undefined unless requests are traced. */
  tracer?: Tracer | undefined;
  /** Signs tokens and proofs. Without it, Node's thread pool does. */
  sign?: JwsSigner | undefined;
}

/** The built pages of the portal. The path is the same from here and from what is built. */
export const pagesFolder = fileURLToPath(new URL('../../portal/dist', import.meta.url));

export function tokenUrlOf({ publicUrl, realm }: Pick<Config, 'publicUrl' | 'realm'>): string {
  return `${publicUrl}/realms/${realm}/protocol/openid-connect/token`;
}
