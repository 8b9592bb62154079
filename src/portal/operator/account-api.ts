// Tests: test/contract/operator-accounts.test.ts, test/contract/backup.test.ts
import { type Static, Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import { reasonSchema } from '../../accounts/audit/reason.ts';
import { mostMembers } from '../../accounts/member-service.ts';
import { findAccount, type ListedAccount, listAccounts, setDisabled } from '../../accounts/people/account-store.ts';
import { findOwnerEmails, listMembers } from '../../accounts/people/member-store.ts';
import { roleSchema } from '../../accounts/people/role.ts';
import type { PersonService } from '../../accounts/person-service.ts';
import { deleteSessionsFor } from '../../accounts/sign-in/session-store.ts';
import { nullable, pageQuery, pageSchema, pathParameter, readPage, recordId, toPage } from '../../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import { longestParameter } from '../../http/route-table.ts';
import { type Clock, dayMs, timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError, invalidField, notFound } from '../../platform/errors.ts';
import { isId } from '../../platform/ids.ts';
import type { CredentialService } from '../../registry/credential-service.ts';
import type { RegistryService } from '../../registry/registry-service.ts';
import { holdWebhooks, resumeWebhooks, untilWebhooksHeld } from '../../webhooks/accounts.ts';

export interface OperatorAccountOptions {
  database: Database;
  clock: Clock;
  people: PersonService;
  registry: RegistryService;
  credentials: CredentialService;
  audit: Audit;
  publicUrl: string;
}

const accountSchema = Type.Object(
  {
    id: recordId('acc'),
    name: Type.String(),
    owner_email: Type.String({ description: 'The e-mail of its first owner', examples: ['you@example.com'] }),
    members: Type.Integer(),
    applications: Type.Integer(),
    created_at: Type.String(),
    disabled_at: nullable(Type.String()),
    disabled_reason: nullable(Type.String({ description: 'Its members read it when they sign in' })),
  },
  { title: 'OperatedAccount' },
);
export type OperatedAccount = Static<typeof accountSchema>;

const detailSchema = Type.Object(
  {
    ...accountSchema.properties,
    people: Type.Array(
      Type.Object({
        ...{ id: recordId('per'), email: Type.String(), role: roleSchema, second_factor: Type.Boolean() },
        operator: Type.Boolean({ description: 'Links for operators are made on the machine only' }),
      }),
      { description: 'Its members, the oldest first' },
    ),
    suspended_credentials: Type.Integer({
      description: 'API keys and client secrets that are suspended since a backup was restored',
    }),
  },
  { title: 'OperatedAccountDetail' },
);
export type OperatedAccountDetail = Static<typeof detailSchema>;

const enabledSchema = Type.Object({ enabled: Type.Integer() }, { title: 'EnabledCredentials' });

const linkSchema = Type.Object(
  {
    email: Type.String(),
    link: Type.String({
      description: 'Shown only once. Send it to the person yourself: the service sends no mail',
      examples: ['https://sms.example.com/#/set-password/Zk3pQ7'],
    }),
    expires_at: Type.String(),
  },
  { title: 'ResetLink' },
);
export type ResetLink = Static<typeof linkSchema>;

export const searchText = Type.Optional(
  Type.String({
    maxLength: 256,
    pattern: '^[^\\u0000]*$',
    description: 'A part of it, in any letter case',
    examples: ['acme'],
  }),
);

/** Accounts, for operators: find, disable, enable, and a link for a person who cannot sign in. */
export function createOperatorAccountRoutes(options: OperatorAccountOptions): Route[] {
  const { database, clock, people, registry, credentials, audit, publicUrl } = options;
  const shared = { auth: { kind: 'operator' }, tag: 'Developer portal: operators' } as const;
  const path = '/portal/v1/operator/accounts';
  const params = Type.Object({ id: pathParameter });
  const found = { 200: { description: 'The account as it is now', schema: accountSchema } };

  async function toRecords(rows: ListedAccount[]): Promise<(OperatedAccount & { id: string })[]> {
    const ids = rows.map(({ id }) => id);
    const [emails, counts] = await Promise.all([findOwnerEmails(database, ids), registry.countByAccount(ids)]);
    return rows.map(({ id, name, members, createdAtMs, disabledAtMs, disabledReason }) => ({
      ...{ id, name, owner_email: emails.get(id) ?? '', members, applications: counts.get(id) ?? 0 },
      created_at: toTimestamp(createdAtMs),
      disabled_at: timestampOrNull(disabledAtMs),
      disabled_reason: disabledReason,
    }));
  }

  async function requireAccount(id: string): Promise<OperatedAccount> {
    const account = isId('acc', id) ? await findAccount(database, id) : undefined;
    const [record] = account === undefined ? [] : await toRecords([account]);
    if (record === undefined) throw notFound();
    return record;
  }

  return [
    route({
      method: 'GET',
      path,
      ...shared,
      operationId: 'listAccounts',
      summary: 'Find accounts by id, name or the e-mail of a member, newest first',
      query: Type.Object({ search: searchText, ...pageQuery }),
      answers: { 200: { description: 'A page of accounts', schema: pageSchema(accountSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const rows = await listAccounts(database, call.query.search?.trim(), { limit: limit + 1, after });
        const records = await toRecords(rows);
        return { status: 200, body: toPage(records, limit, (record) => record) };
      },
    }),
    route({
      method: 'GET',
      path: `${path}/{id}`,
      ...shared,
      operationId: 'getOperatedAccount',
      summary: 'Read an account and its members',
      params,
      answers: { 200: { description: 'The account', schema: detailSchema } },
      handler: async (call) => {
        const record = await requireAccount(call.params.id);
        const members = await listMembers(database, record.id, mostMembers);
        const shown = members.map(({ personId, email, role, secondFactor, operator }) => ({
          ...{ id: personId, email, role, second_factor: secondFactor, operator },
        }));
        const suspended_credentials = await credentials.countSuspended(record.id);
        return { status: 200, body: { ...record, people: shown, suspended_credentials } };
      },
    }),
    route({
      method: 'POST',
      path: `${path}/{id}/disable`,
      ...shared,
      operationId: 'disableAccount',
      summary: 'Disable an account',
      description:
        'After the answer every node refuses its keys, tokens and sessions. Its webhooks are not called: their ' +
        'events wait. Texts that were accepted are still sent.',
      params,
      body: Type.Object({ reason: reasonSchema }, { title: 'AccountToDisable' }),
      answers: found,
      refuses: { INCOMPATIBLE_STATE: 'The account is already disabled, or is the one that you act for' },
      handler: async (call) => {
        const { id } = call.params;
        const { reason } = call.body;
        await requireAccount(id);
        if (requireDeveloper(call).accountId === id) throw ownAccount();
        await registry.changeAccount(async (tx) => {
          if (!(await setDisabled(tx, id, reason, clock.nowMs()))) throw isSo('disabled');
          await deleteSessionsFor(tx, id);
          await holdWebhooks(tx, id);
          await audit.record(tx, call, { act: 'account.disabled', id, accountId: id, details: { reason } });
        });
        await untilWebhooksHeld(database, id);
        return { status: 200, body: await requireAccount(id) };
      },
    }),
    route({
      method: 'POST',
      path: `${path}/{id}/enable`,
      ...shared,
      operationId: 'enableAccount',
      summary: 'Enable an account again',
      description:
        'Its keys and tokens work again, its webhooks continue where they stopped, and its members sign in again.',
      params,
      answers: found,
      refuses: { INCOMPATIBLE_STATE: 'The account is enabled' },
      handler: async (call) => {
        const { id } = call.params;
        await requireAccount(id);
        await registry.changeAccount(async (tx) => {
          if (!(await setDisabled(tx, id, null, clock.nowMs()))) throw isSo('enabled');
          await resumeWebhooks(tx, id, clock.nowMs());
          await audit.record(tx, call, { act: 'account.enabled', id, accountId: id });
        });
        return { status: 200, body: await requireAccount(id) };
      },
    }),
    route({
      method: 'POST',
      path: `${path}/{id}/enable-credentials`,
      ...shared,
      operationId: 'enableCredentials',
      summary: 'Enable the credentials of an account that are suspended since a backup was restored',
      description:
        'Every API key and client secret of the account works again on every node, including those deleted after the backup.',
      params,
      answers: { 200: { description: 'The number of suspended credentials', schema: enabledSchema } },
      handler: async (call) => {
        const { id } = await requireAccount(call.params.id);
        const note = audit.note<number>(call, (enabled) => ({
          ...{ act: 'account.credentials_enabled', id, accountId: id },
          details: { enabled },
        }));
        return { status: 200, body: { enabled: await credentials.enableAll(id, note) } };
      },
    }),
    route({
      method: 'POST',
      path: `${path}/{id}/reset-link`,
      ...shared,
      operationId: 'createResetLink',
      summary: 'Make a link by which a member sets a new password',
      description:
        'It works once, within 24 hours. A second factor stays: a command on the machine removes it. Links for operators are made on the machine only.',
      params,
      body: Type.Object(
        { person_id: Type.String({ ...recordId('per', 'A member of the account'), maxLength: longestParameter }) },
        { title: 'ResetLinkToMake' },
      ),
      answers: { 201: { description: 'The link, shown only once', schema: linkSchema } },
      refuses: { INCOMPATIBLE_STATE: 'The person is an operator' },
      handler: async (call) => {
        const { id: accountId } = await requireAccount(call.params.id);
        const members = await listMembers(database, accountId, mostMembers);
        const member = members.find(({ personId }) => personId === call.body.person_id);
        if (member === undefined) throw invalidField('person_id', 'must be the id of a member of this account');
        const { email, personId } = member;
        const entry = { act: 'reset_link.created', id: personId, accountId, details: { email } } as const;
        const token = await people.createPortalLink(personId, audit.note(call, entry));
        if (token === undefined) throw notFound();
        // Browsers do not send the part after `#`, so the token stays out of access logs.
        const link = `${publicUrl}/#/set-password/${token}`;
        return { status: 201, body: { email, link, expires_at: toTimestamp(clock.nowMs() + dayMs) } };
      },
    }),
  ];
}

function isSo(state: string): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', `This account is ${state} already.`);
}

function ownAccount(): ApiError {
  return new ApiError('INCOMPATIBLE_STATE', 'You act for this account. Switch to another one first.');
}
