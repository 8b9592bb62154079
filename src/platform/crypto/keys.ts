import { hkdfSync } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { unavailable } from '../errors.ts';
import { openSealed, sealWith } from './seal.ts';

/** What a key is for. Each purpose has its own key, so that a hash for one purpose is useless for another. */
export type KeyPurpose =
  | 'api-key'
  | 'api-key-checksum'
  | 'client-secret'
  | 'token-checksum'
  | 'session'
  | 'sso'
  | 'password'
  | 'second-factor'
  | 'link'
  | 'idempotency'
  | 'code'
  | 'given-code'
  | 'inbound'
  | 'opt-out'
  | 'alert-url'
  | 'event-id'
  | 'event-cursor'
  | 'conversion'
  | 'client'
  | 'hook-secret'
  | 'twilio-token'
  | 'smpp-password'
  | 'smpp-part';

/**
 * The key ring. Postgres stores its random root keys, wrapped by the master secret; all other keys derive from them. A
 * new secret wraps the same roots again. A new version adds a root for new rows, and old rows keep theirs.
 */
export interface KeyRing {
  /** The version for new rows. Throws a 503 while this node may not know all versions, as `versionsSince` does. */
  readonly version: number;
  /** Every version, newest first: the version that made an API key is unknown until the key is found. */
  readonly versions: readonly number[];
  /** The versions that any node may have used since then, newest first. Usually one. */
  versionsSince(sinceMs: number): readonly number[];
  keyFor(purpose: KeyPurpose, version: number): Buffer;
  /** Encrypts under the version for new rows, and names it in the first four bytes. `open` needs the same `context`. */
  seal(plain: Buffer, context: string): Buffer;
  open(sealed: Buffer, context: string): Buffer;
}

export interface RingVersion {
  version: number;
  usedFromMs: number;
  key: Buffer;
}

/** Two nodes' clocks differ by 4 s at most, so they change to a new version at slightly different times. */
const clockSkewMs = 10_000;

/** `isCurrent` is false while other nodes may use a version that `found` lacks. */
export function createKeyRing(
  clock: Clock,
  found: () => readonly RingVersion[],
  isCurrent: () => boolean = () => true,
): KeyRing {
  const derived = new Map<string, Buffer>();

  function requireCurrent(): readonly RingVersion[] {
    if (!isCurrent()) throw unknownVersion();
    return found();
  }

  function currentVersion(): number {
    const ring = requireCurrent();
    const nowMs = clock.nowMs();
    const used = ring.find(({ usedFromMs }) => usedFromMs <= nowMs) ?? ring.at(-1);
    if (used === undefined) throw new Error('the key ring is empty');
    return used.version;
  }

  function keyFor(purpose: string, version: number): Buffer {
    const name = `${version}:${purpose}`;
    let key = derived.get(name);
    if (key === undefined) {
      const root = found().find((each) => each.version === version)?.key;
      if (root === undefined) throw unknownVersion();
      key = Buffer.from(hkdfSync('sha256', root, '', `heliograph:${purpose}`, 32));
      derived.set(name, key);
    }
    return key;
  }

  return {
    get version() {
      return currentVersion();
    },
    get versions() {
      return found().map(({ version }) => version);
    },
    versionsSince(sinceMs) {
      // A version ends when the next one begins.
      return requireCurrent()
        .filter((_, index, ring) => index === 0 || (ring[index - 1]?.usedFromMs ?? 0) + clockSkewMs >= sinceMs)
        .map(({ version }) => version);
    },
    keyFor,
    seal(plain, context) {
      const version = currentVersion();
      const head = Buffer.alloc(4);
      head.writeUInt32BE(version);
      return Buffer.concat([head, sealWith(keyFor('seal', version), plain, context)]);
    },
    open: (sealed, context) => openSealed(keyFor('seal', sealed.readUInt32BE(0)), sealed.subarray(4), context),
  };
}

function unknownVersion(): Error {
  return unavailable('This node does not know the newest keys yet. Try again shortly.');
}
