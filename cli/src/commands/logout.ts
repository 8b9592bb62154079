import { ConnectionError, HeliographError } from '../../../sdk/src/index.ts';
import type { Call, Command } from '../command/command.ts';
import { exit, noCredentials } from '../process/exit.ts';
import { changeProfiles } from '../profile/profiles.ts';
import { request } from '../service/request.ts';
import { green, yellow } from '../terminal/text.ts';

export const logout: Command = {
  name: 'logout',
  topic: 'begin',
  summary: 'End the session and remove it from the profile',
  arguments: [],
  options: [{ name: 'all', summary: 'Delete the whole profile, including its keys' }],
  examples: [
    { summary: 'End the session; keys stay in the profile', line: 'heliograph logout' },
    { summary: 'Delete everything stored about a service', line: 'heliograph logout --profile work --all' },
  ],
  async run(call) {
    const { caller, environment, output, values } = call;
    const { profile, url } = caller.target();
    const forgets = values.flag('all');
    if (profile === undefined || (profile.session === undefined && !forgets))
      throw noCredentials(`You are not signed in to ${url}.`);
    const ended = profile.session === undefined ? true : await endSession(call, url, profile.session);
    await changeProfiles(environment, (all) => {
      const kept = all.profiles[profile.name];
      if (kept !== undefined) delete kept.session;
      if (forgets) delete all.profiles[profile.name];
      if (all.current === profile.name && forgets) all.current = null;
    });
    if (output.isJson) output.json({ profile: profile.name, url, session_ended: ended, profile_forgotten: forgets });
    else if (ended)
      output.say([green('✓ '), `Signed out of ${url}.${forgets ? ` The profile ${profile.name} is deleted.` : ''}`]);
    else
      output.say(
        yellow(
          `The session is removed here. ${url} could not be reached: the session expires there within 30 minutes.`,
        ),
      );
    return exit.done;
  },
};

/** False if the service cannot be reached. A session that has already ended is no error. */
async function endSession({ signal }: Call, url: string, cookie: string): Promise<boolean> {
  try {
    await request({ method: 'DELETE', url: new URL(`${url}/portal/v1/sessions/current`), headers: { cookie }, signal });
    return true;
  } catch (error) {
    if (error instanceof HeliographError && error.status === 401) return true;
    if (error instanceof ConnectionError) return false;
    throw error;
  }
}
