import { addressKey } from '../edge/address-key.ts';
import { createAddressWindows } from '../edge/address-windows.ts';
import { createDeveloperService } from '../portal/developer-service.ts';
import { createHasher, type PasswordCost } from '../portal/password.ts';
import { createPasswordWork } from '../portal/password-work.ts';
import { createSessions } from '../portal/session.ts';
import { createSignInThrottle } from '../portal/sign-in-throttle.ts';
import type { Foundation } from './foundation.ts';

export type Accounts = ReturnType<typeof composeAccounts>;

export function composeAccounts(foundation: Foundation, passwordCost: PasswordCost | undefined) {
  const { config, clock, sideDatabase: database, keys, metrics } = foundation;
  const { passwordPerMinute: perMinute } = config;
  const hasher = createHasher(passwordCost);
  const windows = createAddressWindows({ clock });
  metrics.gauge('heliograph_password_windows', 'Addresses with recent password requests', () => windows.size);
  const passwordWork = createPasswordWork({
    hasher,
    addressKey,
    // No response tells a connection about this limit in advance, so a retry extends the block only 250 ms after a
    // refusal.
    takeTry: (key) => windows.decide(key, { perMinute, burst: perMinute }, Number.NEGATIVE_INFINITY),
    perMinute,
  });
  const sessions = createSessions({ database, clock, keys, https: config.publicUrl.startsWith('https:') });
  const throttle = createSignInThrottle(database, clock, keys);
  const developers = createDeveloperService({ database, clock, keys, hasher, passwordWork, sessions, throttle });
  return { sessions, developers };
}
