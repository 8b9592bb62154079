import type { Credential } from '../../../src/portal/developer/registration-api.ts';
import type { Call } from '../command/command.ts';
import { realmOf } from '../profile/sandbox-file.ts';
import { keepInProfile } from '../service/session.ts';
import type { Option } from '../syntax/option.ts';
import { bold, dim, green, type Text, yellow } from '../terminal/text.ts';

export const planOption: Option = {
  name: 'plan',
  value: '<plan>',
  summary: 'The plan of a new registration; free unless you say so',
  choices: ['free', 'pro', 'enterprise'],
};

export const saveOption: Option = { name: 'save', summary: 'Keep it in the profile, and do not show it' };

/** The service shows a credential once: we show it too, or keep it in the profile, or both. */
export async function handOver(
  call: Call,
  applicationId: string,
  credential: Credential,
  record: object,
): Promise<void> {
  const { output, prompt, values } = call;
  if (values.flag('save')) {
    const profile = await keep(call, applicationId, credential);
    if (output.isJson) output.json({ ...record, saved_in_profile: profile });
    else output.say([green('✓ '), `Kept in the profile ${profile}.`]);
    return;
  }
  if (output.isJson) {
    output.json({ ...record, credential });
    return;
  }
  for (const line of linesOf(credential)) output.print(line);
  output.say(yellow('It is shown this once.'));
  if (!prompt.canAsk()) return;
  if (!(await prompt.confirm('Keep it in your profile, so that the other commands use it?'))) {
    output.say(dim(`Then give it to them: ${howToGive(credential)}`));
    return;
  }
  output.say([green('✓ '), `Kept in the profile ${await keep(call, applicationId, credential)}.`]);
}

function linesOf(credential: Credential): Text[] {
  if (credential.type === 'api_key') return [['API key        ', bold(credential.api_key)]];
  return [
    ['Client id      ', bold(credential.client_id)],
    ['Client secret  ', bold(credential.client_secret)],
    ['Token address  ', credential.token_url],
  ];
}

function howToGive({ type }: Credential): string {
  return type === 'api_key' ? 'set HELIOGRAPH_API_KEY.' : 'set HELIOGRAPH_CLIENT_ID and HELIOGRAPH_CLIENT_SECRET.';
}

function keep(call: Call, applicationId: string, credential: Credential): Promise<string> {
  const { profile } = call.caller.place();
  // The keys of a profile are all of one application.
  const other = profile?.application_id !== undefined && profile.application_id !== applicationId;
  return keepInProfile(call, {
    application_id: applicationId,
    ...(other && { api_key: undefined, client_id: undefined, client_secret: undefined }),
    ...(credential.type === 'api_key'
      ? { api_key: credential.api_key }
      : {
          client_id: credential.client_id,
          client_secret: credential.client_secret,
          realm: realmOf(credential.token_url),
        }),
  });
}
