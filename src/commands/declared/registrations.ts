import type { Api } from '../../http/route.ts';
import { apis, credentialFor, scopeFor } from '../../registry/application.ts';
import type { NewCredential } from '../../registry/credential-service.ts';
import type { PlanName } from '../../settings/settings.ts';
import { changedEntry, differing, type Entry, type SectionPlan } from './change.ts';
import type { FoundApplication } from './find-applications.ts';
import { nameRepeated, type Planning } from './planning.ts';

interface Wanted {
  api: Api;
  plan: PlanName;
}

/** Registrations of a file are approved, as by an operator. */
export function planRegistrations(applications: readonly FoundApplication[], planning: Planning): SectionPlan {
  const plans = applications.map((found) => planOne(found, planning));
  return {
    entries: plans.flatMap(({ entries }) => entries),
    unnamed: plans.flatMap(({ unnamed }) => unnamed),
  };
}

function wantedOf({ written }: FoundApplication): Wanted[] {
  return (written.registrations ?? []).map(({ api, plan }) => ({
    api: api.toLowerCase() as Api,
    plan: plan.toLowerCase() as PlanName,
  }));
}

function planOne(found: FoundApplication, { services: { registry }, problems }: Planning): SectionPlan {
  const { path, id, accountId, before, written } = found;
  const wanted = wantedOf(found);
  nameRepeated(
    wanted.map(({ api }, index) => ({ path: `${path}.registrations.${index}.api`, name: api })),
    problems,
  );
  const rows = new Map((before?.registrations ?? []).map((row) => [row.api, row]));
  const nameOf = (api: Api) => `${api} of ${written.name}`;
  const entries = wanted.map(({ api, plan }): Entry => {
    const row = rows.get(api);
    const after = { plan, status: 'approved' };
    const act: Entry['act'] = ({ noteOf }) => {
      const details = { api, plan, application_id: id, credential: null };
      return registry.giveOwn(accountId, id, { api, plan }, (tx, { id: registrationId }) =>
        noteOf({
          ...{ act: row === undefined ? 'registration.created' : 'registration.plan_requested', accountId },
          ...{ id: registrationId, details },
        } as const)(tx, undefined),
      );
    };
    const entry = { kind: 'registration', name: nameOf(api) } as const;
    if (row === undefined)
      return { action: 'create', ...entry, fields: [{ field: 'plan', before: undefined, after: plan }], act };
    return changedEntry({ ...entry, fields: differing(row, after) }, act);
  });
  if (written.registrations === undefined) return { entries, unnamed: [] };
  const named = new Set(wanted.map(({ api }) => api));
  const unnamed = [...rows.keys()]
    .filter((api) => !named.has(api))
    .map(
      (api): Entry => ({
        ...{ action: 'delete', kind: 'registration', name: nameOf(api), fields: [] },
        act: ({ noteOf }) =>
          registry.unregister(accountId, id, api, (tx, ended) =>
            noteOf({
              ...{ act: 'registration.deleted', id: ended.id, accountId },
              details: { api, plan: ended.plan, application_id: id },
            })(tx, undefined),
          ),
      }),
    );
  return { entries, unnamed };
}

/** The credentials that registrations of a file need and the application lacks. */
export function planCredentials(
  applications: readonly FoundApplication[],
  { services: { registry }, options }: Planning,
): Entry[] {
  if (!options.makesCredentials) return [];
  return applications.flatMap((found): Entry[] => {
    const { id, accountId, before, written } = found;
    const wanted = wantedOf(found).map(({ api }) => api);
    const missing = apis.filter((api) => wanted.includes(api)).filter((api) => isMissing(api, wanted, before));
    return missing.map((api) => ({
      ...{ action: 'create', kind: 'credential', name: `${credentialFor(api)} of ${written.name}`, fields: [] },
      act: ({ noteOf, credentials }) =>
        registry.issueOwn(accountId, id, api, async (tx, made) => {
          if (made === null) return;
          await noteOf({ ...entryOf(made), accountId })(tx, undefined);
          credentials?.add({ application: written.name, application_id: id, ...toWritten(made, wanted) });
        }),
    }));
  });
}

/** One client serves both APIs with tokens. */
function isMissing(api: Api, wanted: readonly Api[], before: FoundApplication['before']): boolean {
  if (credentialFor(api) === 'api_key') return before?.hasKey !== true;
  const first = wanted.includes('verify') ? 'verify' : 'messaging';
  return api === first && before?.hasClient !== true;
}

function entryOf(made: NewCredential) {
  return made.type === 'api_key'
    ? ({ act: 'key.created', id: made.id, details: { last_four: made.lastFour } } as const)
    : ({ act: 'client_secret.created', id: made.clientId, details: {} } as const);
}

function toWritten(made: NewCredential, wanted: readonly Api[]): Record<string, unknown> {
  if (made.type === 'api_key') return { type: 'api_key', id: made.id, api_key: made.apiKey };
  const scopes = wanted.filter((api) => api !== 'sms').map(scopeFor);
  return { type: 'client', client_id: made.clientId, client_secret: made.clientSecret, scopes };
}
