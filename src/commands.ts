import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Database } from './platform/database.ts';
import { StartError } from './platform/errors.ts';
import type { KeyRing } from './platform/keys.ts';
import { createDeveloperService } from './portal/developer-service.ts';
import { createPasswords } from './portal/password.ts';
import { createSessions } from './portal/session.ts';
import { createSignInThrottle } from './portal/sign-in-throttle.ts';

/** What only somebody with a shell on the machine may do. */
export const commands = ['operator', 'reset-password'];

export async function runCommand(
  command: string,
  args: string[],
  parts: { config: Config; clock: Clock; database: Database; keys: KeyRing },
): Promise<string> {
  const [email, ...more] = args;
  if (email === undefined || more.length > 0 || !email.includes('@')) {
    throw new StartError(`Say whose it is: npm run ${command} -- you@example.com`);
  }
  const { config, clock, database, keys } = parts;
  const developers = createDeveloperService({
    database,
    clock,
    keys,
    passwords: createPasswords(),
    sessions: createSessions({ database, clock, keys, https: config.publicUrl.startsWith('https:') }),
    throttle: createSignInThrottle(database, clock, keys),
  });
  const token = await developers.createLink(email, command === 'operator');
  if (token === undefined) throw new StartError(`There is no account ${email}.`);
  const purpose = command === 'operator' ? `makes ${email} an operator and sets` : 'sets';
  return [
    '',
    `This link ${purpose} a new password, once, within 24 hours:`,
    '',
    // Behind the #, so that the token stays out of every access log on the way.
    `  ${config.publicUrl}/#/set-password/${token}`,
    '',
    'The same without a browser:',
    '',
    `  curl -X POST ${config.publicUrl}/portal/v1/password-resets -H 'Content-Type: application/json' \\`,
    `    -d '{"token":"${token}","password":"…"}'`,
    '',
  ].join('\n');
}
