// Tests: test/smpp-server/accounts.test.ts
import { type Static, Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import { pageQuery, pageSchema, pathParameter, readPage, recordId, toPage } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import type { Database } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import { isId } from '../../platform/ids.ts';
import { readNames } from '../../registry/registry-store.ts';
import { listAllBinds, markEnding } from '../../smpp-server/bind-store.ts';
import { bindSchema, toBind } from '../developer/smpp/account-record.ts';

const base = '/portal/v1/operator/smpp-binds';

const operatorBindSchema = Type.Object(
  {
    ...bindSchema.properties,
    system_id: Type.String({ examples: ['hg0c4k1x9a2pmv7'] }),
    application_id: recordId('app'),
    application_name: Type.String({ examples: ['Core banking'] }),
    limit: Type.Integer({ description: 'How many binds the account may have', examples: [2] }),
  },
  { title: 'OperatorSmppBind' },
);

export type OperatorSmppBindRecord = Static<typeof operatorBindSchema>;

/** The programs that are bound by SMPP now, for operators. */
export function createSmppBindRoutes({ database }: { database: Database }, audit: Audit): Route[] {
  const shared = { auth: { kind: 'operator' }, tag: 'Developer portal: operators' } as const;
  return [
    route({
      ...shared,
      method: 'GET',
      path: base,
      operationId: 'listSmppBinds',
      summary: 'List the programs that are bound by SMPP now, on all nodes, newest first',
      query: Type.Object(pageQuery),
      answers: { 200: { description: 'A page of binds', schema: pageSchema(operatorBindSchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const found = after === undefined || isId('bnd', after);
        const rows = found ? await listAllBinds(database, after, limit + 1) : [];
        const names = await readNames(database, [...new Set(rows.map(({ applicationId }) => applicationId))]);
        const toRecord = (row: (typeof rows)[number]) => ({
          ...toBind(row),
          system_id: row.systemId,
          application_id: row.applicationId,
          application_name: names.get(row.applicationId) ?? '',
          limit: row.limit,
        });
        return { status: 200, body: toPage(rows, limit, toRecord) };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${base}/{bind_id}/end`,
      operationId: 'endSmppBind',
      summary: 'End a bind; the program may bind again',
      description: 'Its node unbinds it within 2 seconds.',
      params: Type.Object({ bind_id: pathParameter }),
      answers: { 204: { description: 'It is about to end' } },
      handler: async (call) => {
        const { bind_id: id } = call.params;
        await database.transaction(async (tx) => {
          if (!isId('bnd', id) || !(await markEnding(tx, id))) throw notFound();
          await audit.record(tx, call, { act: 'smpp_bind.ended', id });
        });
        return { status: 204 };
      },
    }),
  ];
}
