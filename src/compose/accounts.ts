import { createMemberService } from '../accounts/member-service.ts';
import { createPersonRemoval } from '../accounts/person-removal.ts';
import { createPersonService } from '../accounts/person-service.ts';
import { createSignInChallenges } from '../accounts/sign-in/challenge.ts';
import { createSignInLog } from '../accounts/sign-in/log.ts';
import { createHasher, type PasswordCost } from '../accounts/sign-in/password.ts';
import { createPasswordWork } from '../accounts/sign-in/password-work.ts';
import { createSecondFactor } from '../accounts/sign-in/second-factor.ts';
import { createSessions } from '../accounts/sign-in/session.ts';
import { createSignInThrottle } from '../accounts/sign-in/throttle.ts';
import { addressKey } from '../edge/address-key.ts';
import type { RegistryService } from '../registry/registry-service.ts';
import { composeSso } from './accounts/sso.ts';
import type { Foundation } from './foundation.ts';

export type Accounts = ReturnType<typeof composeAccounts>;

export interface AccountParts {
  registry: RegistryService;
  passwordCost: PasswordCost | undefined;
}

/** Builds what people, their accounts and sessions need. */
export function composeAccounts(foundation: Foundation, { registry, passwordCost }: AccountParts) {
  const { config, clock, sideDatabase: database, keys, windows } = foundation;
  const { passwordPerMinute: perMinute } = config;
  const passwordWork = createPasswordWork({
    hasher: createHasher(keys, passwordCost),
    addressKey,
    // No response shows this limit in advance, so a retry extends the block only 250 ms after a
    // refusal.
    takeTry: (key) => windows.passwords.decide(key, { perMinute, burst: perMinute }, Number.NEGATIVE_INFINITY),
    perMinute,
    // Several processes use several cores already.
    concurrent: config.processes === 1 ? 2 : 1,
  });
  const signIns = createSignInLog(clock);
  const https = config.publicUrl.startsWith('https:');
  const ssoOnly = config.sso?.only === true;
  const sessions = createSessions({ database, clock, keys, signIns, https, ssoOnly });
  const throttle = createSignInThrottle(database, clock, keys);
  const host = new URL(config.publicUrl).host;
  const secondFactor = createSecondFactor({ database, clock, keys, issuer: `Heliograph ${host}` });
  const people = createPersonService({
    database,
    clock,
    keys,
    passwordWork,
    sessions,
    signIns,
    addressKey,
    throttle,
    secondFactor,
    challenges: createSignInChallenges({ clock, keys }),
    operatorsNeedSecondFactor: config.operatorSecondFactor === 'required',
    sso: config.sso,
    removePerson: createPersonRemoval({ database, registry }),
  });
  const members = createMemberService({ database, clock, keys, passwordWork, sessions, ssoOnly });
  const { requirePassword, requireTry } = people;
  const shared = { sessions, secondFactor, throttle, signIns, https, addressKey, requirePassword, requireTry };
  return { sessions, people, members, ...composeSso(foundation, shared) };
}
