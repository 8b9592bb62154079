// Tests: test/contract/operator-accounts.test.ts
import { type Static, Type } from 'typebox';
import { findAccountsByEmail, likeAny } from '../../accounts/people/account-store.ts';
import { findOwnerEmails } from '../../accounts/people/member-store.ts';
import { pageQuery, pageSchema, readPage, recordId, toPage } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import { requestsSince } from '../../metering/usage-store.ts';
import { type Clock, dayMs, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { dayOf, readTextsOf } from '../../quality/total-store.ts';
import { type ListedApplication, listAllApplications } from '../../registry/application-list-store.ts';
import { listedRegistration } from '../developer/registration-api.ts';
import { searchText } from './account-api.ts';

export interface OperatorApplicationOptions {
  database: Database;
  clock: Clock;
  /** Writes this node's counts, so that the reader sees the latest. */
  flush: () => Promise<void>;
}

const applicationSchema = Type.Object(
  {
    id: recordId('app'),
    name: Type.String(),
    account_id: recordId('acc', 'Its account'),
    account_email: Type.String({ description: 'The e-mail of the first owner of the account' }),
    created_at: Type.String(),
    registrations: Type.Array(listedRegistration),
    today: Type.Object(
      {
        admitted: Type.Integer({ description: 'Requests within the limits' }),
        refused: Type.Integer({ description: 'Requests refused by a limit (429)' }),
        sent: Type.Integer({ description: 'Texts that a carrier accepted' }),
        delivered: Type.Integer(),
        failed: Type.Integer({ description: 'Texts that failed or were not delivered' }),
      },
      { description: 'Since midnight UTC' },
    ),
  },
  { title: 'OperatedApplication' },
);
export type OperatedApplication = Static<typeof applicationSchema>;

/** All applications with their traffic of the day, for operators. */
export function createOperatorApplicationRoutes({ database, clock, flush }: OperatorApplicationOptions): Route[] {
  async function toRecords(rows: ListedApplication[]): Promise<OperatedApplication[]> {
    const ids = rows.map(({ id }) => id);
    const nowMs = clock.nowMs();
    // In sequence, so that a request uses one connection at a time.
    const emails = await findOwnerEmails(
      database,
      rows.map(({ accountId }) => accountId),
    );
    const requests = await requestsSince(database, ids, Math.floor(nowMs / dayMs) * dayMs);
    const texts = await readTextsOf(database, dayOf(nowMs), ids);
    return rows.map(({ id, name, accountId, createdAtMs, registrations }) => {
      const { admitted = 0, refused = 0 } = requests.find(({ applicationId }) => applicationId === id) ?? {};
      const { sent = 0, delivered = 0, failed = 0 } = texts.find(({ applicationId }) => applicationId === id) ?? {};
      return {
        ...{ id, name, account_id: accountId, account_email: emails.get(accountId) ?? '' },
        created_at: toTimestamp(createdAtMs),
        registrations,
        today: { admitted, refused, sent, delivered, failed },
      };
    });
  }

  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/applications',
      auth: { kind: 'operator' },
      tag: 'Developer portal: operators',
      operationId: 'listAllApplications',
      summary: "Find applications by id, name, account or a member's e-mail, newest first, with their traffic of today",
      query: Type.Object({ search: searchText, ...pageQuery }),
      answers: { 200: { description: 'A page of applications', schema: pageSchema(applicationSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const text = call.query.search?.trim() ?? '';
        await flush();
        const search =
          text === ''
            ? undefined
            : { id: text, name: likeAny(text), accountIds: await findAccountsByEmail(database, text) };
        const rows = await listAllApplications(database, search, { limit: limit + 1, after });
        return { status: 200, body: toPage(await toRecords(rows), limit, (record) => record) };
      },
    }),
  ];
}
