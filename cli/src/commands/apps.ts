import type { ApplicationDetail, ApplicationRecord } from '../../../src/portal/developer/application-api.ts';
import type { RegisteredRecord } from '../../../src/portal/developer/registration-api.ts';
import type { Command } from '../command/command.ts';
import { exit } from '../process/exit.ts';
import { listApplications, requireApplicationId } from '../service/application.ts';
import { keepInProfile, openSession } from '../service/session.ts';
import { bold, dim, green } from '../terminal/text.ts';
import { handOver, planOption, saveOption } from './new-credential.ts';

export const listApps: Command = {
  name: 'apps list',
  isDefault: true,
  topic: 'account',
  summary: 'List your applications',
  arguments: [],
  options: [],
  examples: [{ summary: 'All of them, with their plans', line: 'heliograph apps' }],
  async run(call) {
    const { output, caller } = call;
    const session = openSession(call);
    const all = await listApplications(session);
    if (output.isJson) {
      output.json({ data: all });
      return exit.done;
    }
    const used = caller.target().profile?.application_id ?? caller.sandboxApplication()?.application_id;
    const rows = all.map(({ id, name, registrations }) => [
      [id === used ? green('● ') : '  ', bold(name)],
      id,
      registrations
        .map(({ api, plan, status }) => `${api} ${plan}${status === 'approved' ? '' : ` (${status})`}`)
        .join(', '),
    ]);
    output.table([{ title: 'Name', flexible: true }, { title: 'Id' }, { title: 'APIs', flexible: true }], rows);
    if (all.length === 0) output.say('You have no application yet. Run `heliograph apps create "My app"`.');
    else if (used === undefined) output.say(dim('Choose one for the other commands: heliograph apps use <id>'));
    return exit.done;
  },
};

export const createApp: Command = {
  name: 'apps create',
  topic: 'account',
  summary: 'Create an application and make it the default',
  arguments: [{ name: 'name', summary: 'Its name; people see it in verification texts' }],
  options: [],
  examples: [{ summary: 'Then create its key', line: 'heliograph apps create "ACME" && heliograph keys create' }],
  async run(call) {
    const { output, values, caller } = call;
    const [name = ''] = values.arguments;
    const application = await openSession(call).call<ApplicationRecord>('POST', '/portal/v1/applications', {
      body: { name },
    });
    await useApplication(call, application.id);
    if (output.isJson) output.json(application);
    else output.print([green('✓ '), bold(application.name), '  ', application.id]);
    output.say(`It is the default application at ${caller.target().url}. Next: \`heliograph keys create\`.`);
    return exit.done;
  },
};

export const useApp: Command = {
  name: 'apps use',
  topic: 'account',
  summary: 'Choose the default application of the other commands',
  arguments: [{ name: 'id or name', summary: 'One of your applications' }],
  options: [],
  examples: [{ summary: 'By its name', line: 'heliograph apps use "ACME"' }],
  async run(call) {
    const { output, values } = call;
    const session = openSession(call);
    const wanted = {
      ...call,
      values: { ...values, text: (name: string) => (name === 'app' ? values.arguments[0] : values.text(name)) },
    };
    const id = await requireApplicationId(wanted, session);
    const application = await session.call<ApplicationDetail>(
      'GET',
      `/portal/v1/applications/${encodeURIComponent(id)}`,
    );
    await useApplication(call, id);
    if (output.isJson) output.json(application);
    else output.say([green('✓ '), bold(application.name), ' is the default application now.']);
    return exit.done;
  },
};

export const registerApp: Command = {
  name: 'apps register',
  topic: 'account',
  summary: 'Register an application for an API, or change its plan',
  more: ['In production an operator must approve it. The first registration shows a credential, once.'],
  arguments: [{ name: 'api', summary: 'Which API', choices: ['sms', 'verify', 'messaging'] }],
  options: [planOption, saveOption],
  examples: [{ summary: 'A plan with a higher limit', line: 'heliograph apps register sms --plan pro' }],
  async run(call) {
    const { output, values } = call;
    const session = openSession(call);
    const id = await requireApplicationId(call, session);
    const [api = ''] = values.arguments;
    const registered = await session.call<RegisteredRecord>('POST', `/portal/v1/applications/${id}/registrations`, {
      body: { api, plan: values.text('plan') ?? 'free' },
    });
    if (!output.isJson) output.print([green('✓ '), bold(registered.api), `  ${registered.plan}, ${registered.status}`]);
    const { credential, ...record } = registered;
    if (credential !== null) await handOver(call, id, credential, record);
    else if (output.isJson) output.json(registered);
    return exit.done;
  },
};

/** The previous application's keys would send on its behalf. */
async function useApplication(call: Parameters<Command['run']>[0], id: string): Promise<void> {
  const { profile } = call.caller.target();
  const isSame = profile?.application_id === id;
  await keepInProfile(call, { application_id: id, ...(!isSame && noKeys) });
}

const noKeys = { api_key: undefined, client_id: undefined, client_secret: undefined };
