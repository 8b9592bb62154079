import type { ListedApplicationRecord } from '../../../src/portal/developer/application-api.ts';
import type { Call } from '../command/command.ts';
import { usageError } from '../process/exit.ts';
import type { Target } from '../profile/target.ts';
import { openSession, type Session } from './session.ts';

const most = 1000;

/** All applications of the account, newest first. */
export async function listApplications(session: Session): Promise<ListedApplicationRecord[]> {
  const found: ListedApplicationRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await session.call<{ data: ListedApplicationRecord[]; next_cursor: string | null }>(
      'GET',
      '/portal/v1/applications',
      { query: { limit: 100, cursor } },
    );
    found.push(...page.data);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && found.length < most);
  return found;
}

/** The applications of the folder's sandbox belong to its demo account, and no other account can read them. */
function isDemoAccount({ profile, sandbox }: Target): boolean {
  return profile?.email === undefined || profile.email === sandbox?.portal.email;
}

/** The application of a command: by --app, by the profile, or the only one. */
export async function requireApplicationId({ values, caller }: Call, session: Session): Promise<string> {
  const wanted = values.text('app') ?? caller.target().profile?.application_id;
  if (wanted !== undefined && /^app_[0-9A-Za-z]{26}$/.test(wanted)) return wanted;
  const demo = isDemoAccount(caller.target()) ? caller.sandboxApplication() : undefined;
  if (wanted === undefined && demo !== undefined) return demo.application_id;
  if (wanted !== undefined && demo?.plan === wanted) return demo.application_id;
  const all = await listApplications(session);
  const found = wanted === undefined ? all : all.filter(({ name, id }) => id === wanted || name === wanted);
  const [first, second] = found;
  if (first === undefined) {
    if (wanted === undefined)
      throw usageError('You have no application yet.', 'Run `heliograph apps create "My app"`.');
    throw usageError(`You have no application ${wanted}.`, '`heliograph apps` lists them.');
  }
  if (second !== undefined) {
    const problem =
      wanted === undefined
        ? `You have ${all.length} applications`
        : `${found.length} applications are called ${wanted}`;
    throw usageError(`${problem}: which one?`, 'Give --app <id>, or set a default: `heliograph apps use <id>`.');
  }
  return first.id;
}

/** The application of a command, with the session that reads and changes it. */
export interface OpenedApplication {
  session: Session;
  id: string;
  /** Its path in the portal's API. */
  path: string;
}

export async function openApplication(call: Call): Promise<OpenedApplication> {
  const session = openSession(call);
  const id = await requireApplicationId(call, session);
  return { session, id, path: `/portal/v1/applications/${encodeURIComponent(id)}` };
}
