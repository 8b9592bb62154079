import type { Credential } from '../../../src/portal/developer/registration-api.ts';
import type { Call } from '../command/command.ts';
import { realmOf } from '../profile/sandbox-file.ts';
import { keepInProfile } from '../service/session.ts';
import type { Option } from '../syntax/option.ts';
import { bold, dim, green, type Text, yellow } from '../terminal/text.ts';

export const planOption: Option = {
  name: 'plan',
  value: '<plan>',
  summary: 'The plan of a new registration; default free',
  choices: ['free', 'pro', 'enterprise'],
};

export const saveOption: Option = { name: 'save', summary: 'Save it in the profile and do not show it' };

/** The service returns a credential only once: show it, save it in the profile, or both. */
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
    else output.say([green('✓ '), `Saved in the profile ${profile}.`]);
    return;
  }
  if (output.isJson) {
    output.json({ ...record, credential });
    return;
  }
  for (const line of linesOf(credential)) output.print(line);
  output.say(yellow('It will not be shown again.'));
  if (!prompt.canAsk()) return;
  if (!(await prompt.confirm('Save it in your profile for the other commands?'))) {
    output.say(dim(`To use it in other commands, ${howToGive(credential)}`));
    return;
  }
  output.say([green('✓ '), `Saved in the profile ${await keep(call, applicationId, credential)}.`]);
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
  const { profile } = call.caller.target();
  // All keys of a profile belong to one application.
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
