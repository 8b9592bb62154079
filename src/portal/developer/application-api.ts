// Tests: test/contract/portal-applications.test.ts
import { type Static, Type } from 'typebox';
import type { Audit, AuditEntry } from '../../accounts/audit/audit.ts';
import {
  nullable,
  openValues,
  pageQuery,
  pageSchema,
  pathParameter,
  readPage,
  recordId,
  toPage,
} from '../../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import { textProblem } from '../../messages/text/text.ts';
import { timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import { type Database, noted, type Tx } from '../../platform/database/database.ts';
import { type FieldProblem, invalidField } from '../../platform/errors.ts';
import type { Application } from '../../registry/application.ts';
import type { ClientRow } from '../../registry/credential-store.ts';
import type { RegistryService } from '../../registry/registry-service.ts';
import { nist } from '../../verify/assurance/profile.ts';
import { listedRegistration, registrationSchema, toRegistration } from './registration-api.ts';

export const applicationParams = Type.Object({ id: pathParameter });

/** Not only spaces, and no control characters. The two parts share no character, so that matching stays linear. */
export const namePattern = '^[\\p{Zs}\\u2028\\u2029\\ufeff]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$';

export const applicationName = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: namePattern,
  examples: ['ACME'],
  expected: 'a name (1–64 characters)',
});

const longestHelp = 320;
export const helpText = Type.String({
  minLength: 1,
  maxLength: longestHelp,
  expected: `a text of 1 to ${longestHelp} characters, or null for the default sentence`,
  description: 'The reply to people who text HELP to a number of the application',
});

const standard = 'standard';
const assurances = [standard, nist];
export const assurance = Type.Unsafe<string>({
  type: 'string',
  enum: assurances,
  expected: `one of ${assurances.join(', ')}`,
  description: 'The profile that its verifications keep',
});

const applicationSchema = Type.Object(
  {
    id: recordId('app'),
    name: Type.String(),
    help_text: nullable(Type.String()),
    assurance: openValues('Assurance', assurances, { description: 'The profile that its verifications keep' }),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { title: 'Application' },
);
export type ApplicationRecord = Static<typeof applicationSchema>;

const listedSchema = Type.Object(
  { ...applicationSchema.properties, registrations: Type.Array(listedRegistration) },
  { title: 'ListedApplication' },
);
export type ListedApplicationRecord = Static<typeof listedSchema>;

export const suspendedAt = nullable(
  Type.String({ description: 'Suspended since a backup was restored, until you enable it' }),
);

export const secretSchema = Type.Object(
  {
    id: recordId('sec'),
    last_four: Type.String(),
    created_at: Type.String(),
    last_used_at: nullable(Type.String()),
    expires_at: nullable(Type.String()),
    suspended_at: suspendedAt,
  },
  { title: 'ClientSecret' },
);
export type ClientSecretRecord = Static<typeof secretSchema>;

const detailSchema = Type.Object(
  {
    ...applicationSchema.properties,
    registrations: Type.Array(registrationSchema),
    client: Type.Unsafe<{ client_id: string; secrets: ClientSecretRecord[] } | null>({
      type: ['object', 'null'],
      description: 'The client that requests its tokens; null while it is registered for no API with tokens',
      properties: { client_id: { type: 'string' }, secrets: { type: 'array', items: secretSchema } },
      required: ['client_id', 'secrets'],
    }),
  },
  { title: 'ApplicationDetail' },
);
export type ApplicationDetail = Static<typeof detailSchema>;

/** Never returns secrets: they are shown only once, when they are created. */
export function createApplicationRoutes(
  registry: RegistryService,
  inTransaction: InTransaction,
  audit: Audit,
  mayAssure: boolean,
): Route[] {
  const entryOf = (act: AuditEntry['act'], details?: object) => (application: Application) => ({
    ...{ act, id: application.id },
    details: { name: application.name, ...details },
  });
  const tag = 'Developer portal: applications';
  const auth = { kind: 'developer' } as const;
  return [
    route({
      method: 'POST',
      path: '/portal/v1/applications',
      auth,
      tag,
      operationId: 'createApplication',
      summary: 'Create an application',
      body: Type.Object({ name: applicationName }, { title: 'ApplicationToCreate' }),
      answers: { 201: { description: 'The application', schema: applicationSchema, headers: ['Location'] } },
      refuses: { INCOMPATIBLE_STATE: 'The account has the maximum number of applications' },
      handler: async (call) => {
        const { accountId } = requireDeveloper(call);
        const create = (tx: Tx) => registry.createOwnApplication(tx, accountId, call.body.name);
        const application = await inTransaction(noted(create, audit.note(call, entryOf('application.created'))));
        return { status: 201, location: `/portal/v1/applications/${application.id}`, body: toApplication(application) };
      },
    }),
    route({
      method: 'GET',
      path: '/portal/v1/applications',
      auth,
      tag,
      operationId: 'listApplications',
      summary: 'List your applications, newest first',
      query: Type.Object(pageQuery),
      answers: { 200: { description: 'A page of applications', schema: pageSchema(listedSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const page = { limit: limit + 1, after };
        const rows = await registry.listApplications(requireDeveloper(call).accountId, page);
        const toItem = (row: (typeof rows)[number]) => ({ ...toApplication(row), registrations: row.registrations });
        return { status: 200, body: toPage(rows, limit, toItem) };
      },
    }),
    route({
      method: 'GET',
      path: '/portal/v1/applications/{id}',
      auth,
      tag,
      operationId: 'getApplication',
      summary: 'Read an application',
      params: applicationParams,
      answers: { 200: { description: 'The application with its registrations and its client', schema: detailSchema } },
      handler: async (call) => {
        const { application, registrations, client } = await registry.requireApplication(
          requireDeveloper(call).accountId,
          call.params.id,
        );
        const body = {
          ...toApplication(application),
          registrations: registrations.map(toRegistration),
          client: client === undefined ? null : toClient(client),
        };
        return { status: 200, body };
      },
    }),
    route({
      method: 'PATCH',
      path: '/portal/v1/applications/{id}',
      auth,
      tag,
      operationId: 'changeApplication',
      summary: 'Change the name, the help text or the assurance profile of an application',
      params: applicationParams,
      body: Type.Object(
        {
          name: Type.Optional(applicationName),
          help_text: Type.Optional(nullable(helpText)),
          assurance: Type.Optional(assurance),
        },
        { title: 'ApplicationChange', examples: [{ name: 'ACME' }], check: checkChange },
      ),
      answers: { 200: { description: 'The application', schema: applicationSchema } },
      handler: async (call) => {
        const { accountId } = requireDeveloper(call);
        const { name, help_text: helpText, assurance: wanted } = call.body;
        const problem = assuranceProblem(wanted, mayAssure);
        if (problem !== undefined) throw invalidField('assurance', problem);
        const assurance = storedAssurance(wanted);
        const changed = { changed: Object.keys(call.body) };
        const note = audit.note(call, entryOf('application.changed', changed));
        const application = await registry.changeApplication(
          accountId,
          call.params.id,
          { name, helpText, assurance },
          note,
        );
        return { status: 200, body: toApplication(application) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/portal/v1/applications/{id}',
      auth,
      tag,
      operationId: 'deleteApplication',
      summary: 'Delete an application; its credentials and tokens stop working at once',
      params: applicationParams,
      answers: { 204: { description: 'Deleted' } },
      handler: async (call) => {
        const note = audit.note(call, entryOf('application.deleted'));
        await registry.deleteApplication(requireDeveloper(call).accountId, call.params.id, note);
        return { status: 204 };
      },
    }),
  ];
}

type InTransaction = Database['transaction'];

/** Why an application may not have this profile. */
export function assuranceProblem(wanted: string | undefined, mayAssure: boolean): string | undefined {
  if (wanted !== nist || mayAssure) return undefined;
  return 'cannot be kept without a risk check: an operator sets HELIOGRAPH_RISK_URL first';
}

/** The standard profile is stored as null. */
export function storedAssurance(wanted: string | undefined): string | null | undefined {
  return wanted === standard ? null : wanted;
}

export function shownAssurance(stored: string | null): string {
  return stored ?? standard;
}

function checkChange({ name, help_text, assurance }: Record<string, unknown>): FieldProblem[] {
  if (name === undefined && help_text === undefined && assurance === undefined)
    return [{ field: 'name', message: 'or help_text or assurance is required: there is nothing to change' }];
  return checkHelpText({ help_text });
}

export function checkHelpText({ help_text }: Record<string, unknown>): FieldProblem[] {
  const problem = typeof help_text === 'string' && help_text.length <= longestHelp ? textProblem(help_text) : undefined;
  return problem === undefined ? [] : [{ field: 'help_text', message: problem }];
}

function toApplication({ id, name, helpText, assurance, createdAtMs, updatedAtMs }: Application) {
  const times = { created_at: toTimestamp(createdAtMs), updated_at: toTimestamp(updatedAtMs) };
  return { id, name, help_text: helpText, assurance: shownAssurance(assurance), ...times };
}

function toClient({ id, secrets }: ClientRow) {
  return {
    client_id: id,
    secrets: secrets.map(toSecret),
  };
}

export function toSecret(secret: ClientRow['secrets'][number]): ClientSecretRecord {
  return {
    id: secret.id,
    last_four: secret.lastFour,
    created_at: toTimestamp(secret.createdAtMs),
    last_used_at: timestampOrNull(secret.lastUsedAtMs),
    expires_at: timestampOrNull(secret.expiresAtMs),
    suspended_at: timestampOrNull(secret.suspendedAtMs),
  };
}
