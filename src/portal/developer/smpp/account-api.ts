// Tests: test/smpp-server/accounts.test.ts
import { Type } from 'typebox';
import type { Audit } from '../../../accounts/audit/audit.ts';
import { pageSchema, pathParameter } from '../../../http/list-page.ts';
import { type Call, type Route, requireDeveloper, route } from '../../../http/route.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { FieldProblem } from '../../../platform/errors.ts';
import { uuidOf } from '../../../platform/ids.ts';
import { fewestBinds, mostAddresses, mostBinds } from '../../../smpp-server/account.ts';
import type { NewSmppAccount, SmppAccountDetail, SmppAccounts } from '../../../smpp-server/account-service.ts';
import { addressProblem } from '../../../smpp-server/addresses.ts';
import { listBinds, listProblems } from '../../../smpp-server/bind-store.ts';
import { readWaiting } from '../../../smpp-server/delivery-store.ts';
import { testReceivers } from '../../../smpp-server/receiver-test.ts';
import { applicationParams } from '../application-api.ts';
import { type AccountNow, accountSchema, emptyNow, newAccountSchema, toAccount } from './account-record.ts';

export interface SmppRoutesOptions {
  database: Database;
  clock: Clock;
  accounts: SmppAccounts;
  listening: { port: number | undefined; tlsPort: number | undefined };
  publicUrl: string;
}

const path = '/portal/v1/applications/{id}/smpp-accounts';
const params = Type.Object({ ...applicationParams.properties, account_id: pathParameter });
const overlapSeconds = Type.Integer({
  minimum: 0,
  maximum: 2_592_000,
  default: 0,
  expected: 'the seconds during which the older passwords are valid too: 0 to 2592000 (30 days)',
});
const mostShownBinds = 1000;

const ownedBy = (call: Call<{ id: string }>) => ({
  accountId: requireDeveloper(call).accountId,
  applicationId: call.params.id,
});

function checkAddresses({ addresses }: Record<string, unknown>): FieldProblem[] {
  if (!Array.isArray(addresses)) return [];
  return addresses.flatMap((entry, index) => {
    const problem = typeof entry === 'string' ? addressProblem(entry) : undefined;
    return problem === undefined ? [] : [{ field: `addresses.${index}`, message: problem }];
  });
}

/** The accounts of programs that send through us by SMPP (section 20 of the contract). */
export function createSmppAccountRoutes(options: SmppRoutesOptions, audit: Audit): Route[] {
  const { database, clock, accounts, listening, publicUrl } = options;
  const offered = { host: new URL(publicUrl).hostname, ...listening };
  const shared = { auth: { kind: 'developer' }, tag: 'Developer portal: SMPP' } as const;

  async function readNow(ids: string[]): Promise<Map<string, AccountNow>> {
    if (ids.length === 0) return new Map();
    const [binds, problems, waiting] = await Promise.all([
      listBinds(database, ids, mostShownBinds),
      listProblems(database, ids),
      readWaiting(database, ids.map(uuidOf)),
    ]);
    return new Map(
      ids.map((id): [string, AccountNow] => [
        id,
        {
          bound: binds.filter(({ accountId }) => accountId === id),
          problems: problems.filter(({ accountId }) => accountId === id),
          waiting: waiting.get(uuidOf(id)) ?? emptyNow.waiting,
        },
      ]),
    );
  }

  async function shown(list: SmppAccountDetail[]) {
    const now = await readNow(list.map(({ id }) => id));
    return list.map((account) => toAccount(account, now.get(account.id) ?? emptyNow, offered));
  }

  async function shownNew({ password, ...account }: NewSmppAccount) {
    const [record] = await shown([account]);
    return { ...record, password };
  }

  return [
    route({
      ...shared,
      method: 'POST',
      path,
      operationId: 'createSmppAccount',
      summary: 'Create an account for a program that speaks SMPP',
      description: 'At most 20 an application, which must be registered for SMS Messaging.',
      params: applicationParams,
      body: Type.Object(
        {
          binds: Type.Integer({
            minimum: fewestBinds,
            maximum: mostBinds,
            default: 2,
            expected: `how many binds it may have at a time: ${fewestBinds} to ${mostBinds}`,
          }),
          addresses: Type.Array(Type.String({ maxLength: 64 }), {
            maxItems: mostAddresses,
            default: [],
            examples: [['203.0.113.0/28']],
            description: 'Where it may bind from: addresses or CIDRs, none wider than /24 or /48; empty for anywhere',
            expected: `a list of at most ${mostAddresses} addresses or CIDRs`,
          }),
        },
        { title: 'SmppAccountToCreate', check: checkAddresses },
      ),
      answers: {
        201: { description: 'With the password, shown only once', schema: newAccountSchema, headers: ['Location'] },
      },
      refuses: {
        INCOMPATIBLE_STATE: 'The application has no approved registration for SMS Messaging, or has 20 accounts',
      },
      handler: async (call) => {
        const { id } = call.params;
        const { binds, addresses } = call.body;
        const note = audit.note<SmppAccountDetail>(call, (made) => ({
          act: 'smpp_account.created',
          id: made.id,
          details: { application_id: id, binds, addresses },
        }));
        const made = await accounts.create(ownedBy(call), { binds, addresses }, note);
        const location = `/portal/v1/applications/${id}/smpp-accounts/${made.id}`;
        return { status: 201, location, body: await shownNew(made) };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path,
      operationId: 'listSmppAccounts',
      summary: 'List the SMPP accounts of an application with their binds, oldest first',
      params: applicationParams,
      answers: { 200: { description: 'All of them', schema: pageSchema(accountSchema) } },
      handler: async (call) => ({
        status: 200,
        body: { data: await shown(await accounts.list(ownedBy(call))), next_cursor: null },
      }),
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${path}/{account_id}`,
      operationId: 'getSmppAccount',
      summary: 'Read an SMPP account with its binds and what was refused lately',
      params,
      answers: { 200: { description: 'The account, without its password', schema: accountSchema } },
      handler: async (call) => {
        const [record] = await shown([await accounts.read(ownedBy(call), call.params.account_id)]);
        return { status: 200, body: record };
      },
    }),
    route({
      ...shared,
      method: 'DELETE',
      path: `${path}/{account_id}`,
      operationId: 'deleteSmppAccount',
      summary: 'Delete an SMPP account; its binds end within a second',
      params,
      answers: { 204: { description: 'Deleted' } },
      handler: async (call) => {
        const { id, account_id } = call.params;
        const note = audit.note(call, { act: 'smpp_account.deleted', id: account_id, details: { application_id: id } });
        await accounts.remove(ownedBy(call), account_id, note);
        return { status: 204 };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${path}/{account_id}/passwords`,
      operationId: 'createSmppPassword',
      summary: 'Create a password; the older ones are valid too until the overlap ends',
      params,
      body: Type.Object({ overlap_seconds: overlapSeconds }, { title: 'SmppPasswordToCreate' }),
      answers: { 201: { description: 'With the password, shown only once', schema: newAccountSchema } },
      refuses: { INCOMPATIBLE_STATE: 'The account has 5 passwords in force' },
      handler: async (call) => {
        const { id, account_id } = call.params;
        const { overlap_seconds } = call.body;
        const details = { application_id: id, overlap_seconds };
        const note = audit.note(call, { act: 'smpp_account.password_created', id: account_id, details });
        const made = await accounts.rotate(ownedBy(call), account_id, overlap_seconds, note);
        return { status: 201, body: await shownNew(made) };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${path}/{account_id}/test`,
      operationId: 'testSmppAccount',
      summary: 'Send a text to the receivers of an SMPP account, and see whether one acknowledges it',
      description: 'Waits at most 5 seconds. The text comes from a test number, and is no record of the API.',
      params,
      answers: {
        200: {
          description: 'The outcome of the test',
          schema: Type.Object(
            {
              outcome: Type.Unsafe<'acknowledged' | 'unanswered' | 'not_sent'>({
                type: 'string',
                enum: ['acknowledged', 'unanswered', 'not_sent'],
                examples: ['acknowledged'],
                description: 'not_sent: no receiver is bound, or none has room',
              }),
              milliseconds: Type.Integer({ examples: [12] }),
            },
            { title: 'SmppTestResult' },
          ),
        },
      },
      handler: async (call) => {
        const account = await accounts.read(ownedBy(call), call.params.account_id);
        return { status: 200, body: await testReceivers({ database, clock }, account) };
      },
    }),
  ];
}
