import type { Call, Command } from '../command/command.ts';
import { exit, usageError } from '../process/exit.ts';
import { isOpenToReaders, readUrl, requireUrl } from '../profile/address.ts';
import { changeProfiles, findByUrl, nameFor, type Profile, profilesFile, readProfiles } from '../profile/profiles.ts';
import { readSandboxFile } from '../profile/sandbox-file.ts';
import { listApplications } from '../service/application.ts';
import { createSession, signIn } from '../service/session.ts';
import { bold, green, yellow } from '../terminal/text.ts';

const longestPassword = 1024;

export const login: Command = {
  name: 'login',
  topic: 'begin',
  summary: 'Sign in to a service as a developer or operator',
  more: [
    'It asks for missing values: the address, the email, and the password, which is not shown. If you have a second factor, it asks for a code too. The session is saved in a profile, in a file that only you can read; the password is not saved. A session lasts at most 12 hours, and ends after 30 minutes without a call.',
    'Create an account in the portal. A sandbox in this folder needs no login.',
  ],
  arguments: [],
  options: [
    { name: 'email', value: '<email>', summary: 'The email of your account' },
    { name: 'password-stdin', summary: 'Read the password from stdin' },
    { name: 'code', value: '<code>', summary: 'A code of your second factor, if you have one' },
  ],
  examples: [
    { summary: 'Enter everything when asked', line: 'heliograph login' },
    {
      summary: 'In a script, with a profile of its own',
      line: 'heliograph login --url https://sms.example.com --email you@example.com --profile work --password-stdin < password.txt',
    },
  ],
  async run(call) {
    const { environment, output, prompt, signal, values } = call;
    const name = readName(values.text('profile') ?? environment.read('HELIOGRAPH_PROFILE'));
    const known = readProfiles(environment);
    const url = await askUrl(call, name === undefined ? undefined : known.profiles[name]?.url);
    if (isOpenToReaders(url)) output.say(yellow(`Others on the network could read the password: ${url} is not https.`));
    const before = known.profiles[name ?? findByUrl(known, url) ?? ''];
    const email = values.text('email') ?? (await prompt.ask('Email', before?.email));
    const password = values.flag('password-stdin')
      ? await prompt.readPiped('password', longestPassword)
      : await prompt.askSecret('Password');
    const { cookie, account } = await signIn(url, { email, password }, { signal, askCode: () => askCode(call) });
    const applications = await listApplications(createSession({ url, cookie, signal }));
    const only = applications.length === 1 ? applications[0]?.id : undefined;
    const kept = await keep(call, { name, url, email: account.email, session: cookie, only });
    if (output.isJson) {
      const { operator } = account;
      output.json({
        profile: kept.name,
        url,
        email: account.email,
        operator,
        application_id: kept.profile.application_id ?? null,
      });
      return exit.done;
    }
    output.say([
      green('✓ '),
      'Signed in to ',
      bold(url),
      ' as ',
      bold(account.email),
      account.operator ? ', an operator.' : '.',
    ]);
    output.say(`The session is saved in the profile ${kept.name} (${profilesFile(environment)}).`);
    output.say(nextStep(applications.length, kept.profile));
    return exit.done;
  },
};

/** Apps show codes in two groups. */
async function askCode({ values, prompt }: Call): Promise<string> {
  const given = values.text('code') ?? (await prompt.ask('Code of your authenticator app, or a recovery code'));
  return given.replaceAll(' ', '');
}

function readName(name: string | undefined): string | undefined {
  if (name === undefined || /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/.test(name)) return name;
  throw usageError('A profile name must be 1 to 64 letters, digits, dots, colons, dashes and underscores.');
}

async function askUrl({ values, environment, prompt }: Call, ofProfile: string | undefined): Promise<string> {
  const given = values.text('url') ?? environment.read('HELIOGRAPH_URL') ?? ofProfile;
  if (given !== undefined) return requireUrl(given, 'The address');
  const local = readSandboxFile(environment).credentials?.base_url ?? 'http://127.0.0.1:8080';
  const answer = await prompt.ask('Address of the service', local);
  // People enter a host without a scheme; remote services use https.
  return requireUrl(readUrl(answer) === undefined ? `https://${answer}` : answer, 'The address');
}

interface NewSession {
  name: string | undefined;
  url: string;
  email: string;
  session: string;
  only: string | undefined;
}

/** Keys belong to an account, so those of another account are removed. */
async function keep({ environment }: Call, given: NewSession): Promise<{ name: string; profile: Profile }> {
  const { url, email, session, only } = given;
  let kept: { name: string; profile: Profile } | undefined;
  await changeProfiles(environment, (all) => {
    const name = given.name ?? findByUrl(all, url) ?? nameFor(url);
    const before = all.profiles[name];
    const isSame = before?.url === url && before.email === email;
    const applicationId = (isSame ? before.application_id : undefined) ?? only;
    const profile = {
      ...(isSame && before),
      ...{ url, email, session },
      ...(applicationId !== undefined && { application_id: applicationId }),
    };
    all.profiles[name] = profile;
    all.current = name;
    kept = { name, profile };
  });
  if (kept === undefined) throw new Error('The profile was not saved.');
  return kept;
}

function nextStep(count: number, { application_id, api_key }: Profile): string {
  if (count === 0) return 'Next: `heliograph apps create "My app"`.';
  if (application_id === undefined)
    return `You have ${count} applications. Next: \`heliograph apps\`, then \`heliograph apps use <id>\`.`;
  return api_key === undefined ? 'Next: `heliograph keys create`.' : 'Next: `heliograph send`.';
}
