// Tests: test/hostile/sign-in-flood.test.ts
import { unavailable } from '../../platform/errors.ts';
import { createFairShare } from '../../platform/work/fair-share.ts';
import type { Hasher } from './password.ts';
import { createSlots } from './slots.ts';
import { throttled } from './throttled.ts';

/** The only way to hash a password for a caller: limited per address, and shared fairly between addresses. */
export interface PasswordWork {
  /** Counts a try and reserves a slot before the work starts, or throws. */
  run<Result>(address: string, work: (hasher: Hasher, addressKey: string) => Promise<Result>): Promise<Result>;
}

interface Try {
  admitted: boolean;
  retryAfterMs: number;
}

export interface PasswordWorkOptions {
  hasher: Hasher;
  /** The key that an address is counted by: IPv6 by /64. */
  addressKey: (address: string) => string;
  /** Counts one try, if the address has any left. */
  takeTry: (addressKey: string) => Try | Promise<Try>;
  perMinute: number;
  /** Maximum concurrent hashes. Each takes a core, and with scrypt 32 MiB. */
  concurrent?: number;
}

/** An address can use its whole default limit at once, but at most a fifth of all slots. */
const slotsPerAddress = 20;
const allSlots = 100;
/** About the time that two runners need for all slots of one address. */
const slotFreeMs = 5000;

export function createPasswordWork(options: PasswordWorkOptions): PasswordWork {
  const { hasher, addressKey, takeTry, perMinute, concurrent = 2 } = options;
  const slots = createSlots({
    perKey: slotsPerAddress,
    total: allSlots,
    onKeyFull: () => throttled('Too many passwords are being checked for your address', slotFreeMs),
    onAllFull: () => unavailable('Too many people are signing in. Try again shortly.', 5),
  });
  // The slots bound the waiting work, so the queue needs no limits of its own.
  const hashing = createFairShare({ concurrent, perCaller: concurrent });

  /** Hashes when it is the address's turn. */
  const queued = (key: string): Hasher => ({
    hash: (password) => hashing.run(key, () => hasher.hash(password)),
    verify: (password, stored) => hashing.run(key, () => hasher.verify(password, stored)),
    isOutdated: hasher.isOutdated,
  });

  return {
    async run(address, work) {
      const key = addressKey(address);
      const { admitted, retryAfterMs } = await takeTry(key);
      if (!admitted) {
        throw throttled(
          `At most ${perMinute} sign-ups, sign-ins and password resets a minute from one address`,
          retryAfterMs,
        );
      }
      return slots.run(key, () => work(queued(key), key));
    },
  };
}
