import { unavailable } from '../platform/errors.ts';
import type { Hasher } from './password.ts';
import { throttled } from './throttled.ts';
import { createTurns, type InTurn } from './turns.ts';

/** The one way to hash a password for a caller: limited per address, and shared fairly between addresses. */
export interface PasswordWork {
  /** Counts it for the address and takes a place for it, or throws, before the work has done anything. */
  run<Result>(address: string, work: (hasher: Hasher, addressKey: string) => Promise<Result>): Promise<Result>;
}

export interface PasswordWorkOptions {
  hasher: Hasher;
  /** Under what an address is counted: IPv6 by /64. */
  addressKey: (address: string) => string;
  /** Counts one try of this address, if it may still try. */
  takeTry: (addressKey: string) => { admitted: boolean; retryAfterMs: number };
  perMinute: number;
}

/** Each takes a core and 128 MiB. */
const running = 2;
/** With the default limit an address can use all it is allowed at once, and no address can take more than a fifth. */
const placesPerAddress = 20;
const places = 100;
/** Two runners need about this long for the places of one address. */
const placeFreeMs = 5000;

export function createPasswordWork({ hasher, addressKey, takeTry, perMinute }: PasswordWorkOptions): PasswordWork {
  const turns = createTurns({
    running,
    placesPerKey: placesPerAddress,
    places,
    onKeyFull: () => throttled('Too many passwords are being checked for your address at the moment', placeFreeMs),
    onAllFull: () => unavailable('Too many people are signing in. Try again shortly.', 5),
  });
  return {
    async run(address, work) {
      const key = addressKey(address);
      const { admitted, retryAfterMs } = takeTry(key);
      if (!admitted) {
        throw throttled(
          `At most ${perMinute} sign-ups, sign-ins and password resets a minute from one address`,
          retryAfterMs,
        );
      }
      return turns.withPlace(key, (inTurn) => work(queued(hasher, inTurn), key));
    },
  };
}

function queued(hasher: Hasher, inTurn: InTurn): Hasher {
  return {
    hash: (password) => inTurn(() => hasher.hash(password)),
    verify: (password, stored) => inTurn(() => hasher.verify(password, stored)),
    isOutdated: hasher.isOutdated,
  };
}
