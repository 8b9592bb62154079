import { createBoundedMap } from '../platform/bounded-map.ts';
import type { Clock } from '../platform/clock.ts';
import { ownedText } from '../platform/owned-text.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { KnownApplication } from './directory.ts';

/**
 * Remembers one kind of credential: its text in, its value out (the caller, for keys and tokens). One rule of validity:
 * an entry holds until its expiry, while this node follows the change feed and the application is unchanged. A
 * credential without an application never becomes valid, so that entry holds for ever.
 */
export interface CredentialCache<Value> {
  /** The value; null for a credential known to be invalid; undefined for "look it up". */
  remembered(text: string): Value | null | undefined;
  /** Whether the last lookup found an application for it. */
  wasKnown(text: string): boolean;
  /** Reads the credential. Null for an invalid one. */
  lookUp(text: string): Promise<Value | null>;
  /** Every credential needs a new lookup, but stays known. */
  invalidate(): void;
  readonly size: number;
}

/** The result of reading a credential. */
export interface Finding<Value> {
  /** Null for an invalid credential. */
  value: Value | null;
  /** Undefined for a credential that never becomes valid: it does not exist, or is revoked. */
  application: KnownApplication | undefined;
  endsAtMs: number;
}

export interface CredentialCacheOptions<Value> {
  /** Undefined for text that proves nothing, such as a forged token: the cache keeps no entry for it. */
  read(text: string): Promise<Finding<Value> | undefined>;
  feed: Pick<ChangeFeed, 'generation'>;
  applications: Applications;
  clock: Clock;
  /** Entries to keep. */
  most: number;
  /** Entries unused for this time are forgotten; none if undefined. */
  unusedMs?: number;
}

/** This node's one object per application (`directory.ts`). */
export interface Applications {
  isCurrent(application: KnownApplication): boolean;
  keep(application: KnownApplication): void;
}

interface Entry<Value> extends Finding<Value> {
  invalidations: number;
}

interface Lookup<Value> {
  generation: number;
  beganMs: number;
  found: Promise<Value | null>;
}

/**
 * Shorter than a change waits for a node that lost the feed, so no request joins a read that began before the change.
 */
const joinWithinMs = 500;

export function createCredentialCache<Value>(options: CredentialCacheOptions<Value>): CredentialCache<Value> {
  const { read, feed, applications, clock, most, unusedMs } = options;
  const forgetting = unusedMs === undefined ? undefined : { clock, unusedMs };
  const entries = createBoundedMap<string, Entry<Value>>(most, forgetting);
  const underWay = new Map<string, Lookup<Value>>();
  let invalidations = 0;

  /** A state read before a change must not be kept after it. */
  async function readOnce(text: string, generation: number): Promise<Value | null> {
    const finding = await read(text);
    if (finding === undefined) {
      entries.delete(text);
      return null;
    }
    if (feed.generation === generation) {
      if (finding.application !== undefined) applications.keep(finding.application);
      entries.set(text, { ...finding, invalidations });
    }
    return finding.endsAtMs > clock.nowMs() ? finding.value : null;
  }

  return {
    remembered(text) {
      const entry = entries.get(text);
      if (entry === undefined) return undefined;
      const { value, application } = entry;
      if (application === undefined || entry.endsAtMs <= clock.nowMs()) return null;
      return entry.invalidations === invalidations && applications.isCurrent(application) ? value : undefined;
    },

    wasKnown: (text) => entries.get(text)?.application !== undefined,

    /**
     * Lookups of the same credential that arrive together share one read. Otherwise, after a plan change, a busy caller
     * would query once per request. No lookup joins a read that began before a known change.
     */
    lookUp(given) {
      const text = ownedText(given);
      const { generation } = feed;
      const beganMs = clock.steadyMs();
      const other = underWay.get(text);
      if (other?.generation === generation && beganMs - other.beganMs < joinWithinMs) return other.found;
      const found = readOnce(text, generation).finally(() => {
        if (underWay.get(text)?.found === found) underWay.delete(text);
      });
      underWay.set(text, { generation, beganMs, found });
      return found;
    },

    invalidate() {
      invalidations++;
    },
    get size() {
      return entries.size;
    },
  };
}
