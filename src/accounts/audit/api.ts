// Tests: test/contract/portal-audit.test.ts
import { type Static, Type } from 'typebox';
import { nullable, pageQuery, pageSchema, readPage, recordId, toPage } from '../../http/list-page.ts';
import { exampleId, exampleSpan } from '../../http/openapi/field-examples.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import { readTimestamp, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { invalidField } from '../../platform/errors.ts';
import { idFloor } from '../../platform/ids.ts';
import { type AuditFilter, listEntries, type StoredEntry } from './store.ts';

const entrySchema = Type.Object(
  {
    id: recordId('aud'),
    time: Type.String(),
    actor: Type.Object({
      type: Type.Unsafe<StoredEntry['actorKind']>({ type: 'string', enum: ['member', 'operator', 'machine'] }),
      id: nullable(recordId('per', 'The person; null for the machine, and for operators in the log of an account')),
      email: nullable(Type.String({ description: 'As it was at that time', examples: ['you@example.com'] })),
    }),
    account_id: nullable(recordId('acc', 'Its owners see the entry; null for entries about the service')),
    act: Type.String({ examples: ['key.created'] }),
    target: Type.Object({ type: Type.String({ examples: ['key'] }), id: Type.String() }),
    details: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'What was done, without secrets',
      examples: [{ last_four: 'a1b2' }],
    }),
    address: nullable(Type.String({ description: 'Where the call came from; null for a command on the machine' })),
  },
  { title: 'AuditEntry' },
);
export type AuditRecord = Static<typeof entrySchema>;

const filterText = (description: string, examples: string[]) =>
  Type.Optional(Type.String({ maxLength: 256, pattern: '^[^\\u0000]*$', description, examples }));
const time = (description: string, example: string) =>
  Type.Optional(Type.String({ maxLength: 32, description, examples: [example] }));

const filters = {
  actor: filterText('The e-mail of the person', ['you@example.com']),
  act: filterText('Exactly this act', ['key.created']),
  target: filterText('The id or name of what was changed', ['acme']),
  from: time('At this time or later', exampleSpan.from),
  to: time('Before this time', exampleSpan.to),
};
const query = Type.Object({ ...filters, ...pageQuery });
type Query = Static<typeof query>;

/** Who did what, when and from where: all entries for operators, those of their account for owners. */
export function createAuditRoutes(database: Database): Route[] {
  const answers = { 200: { description: 'A page of entries', schema: pageSchema(entrySchema) } };

  async function list(given: Query, accountId: string | undefined, forOperators: boolean) {
    const { limit, after } = readPage(given);
    const rows = await listEntries(database, { ...readFilter(given, after), accountId }, limit + 1);
    return toPage(rows, limit, (entry) => toRecord(entry, forOperators));
  }

  return [
    route({
      method: 'GET',
      path: '/portal/v1/audit',
      auth: { kind: 'developer', role: 'owner' },
      tag: 'Developer portal: members',
      operationId: 'listAudit',
      summary: 'List what was done in your account, newest first',
      query,
      answers,
      refuses: { PERMISSION_DENIED: 'You are not an owner of the account' },
      handler: async (call) => ({ status: 200, body: await list(call.query, requireDeveloper(call).accountId, false) }),
    }),
    route({
      method: 'GET',
      path: '/portal/v1/operator/audit',
      auth: { kind: 'operator' },
      tag: 'Developer portal: operators',
      operationId: 'listAllAudit',
      summary: 'List what operators, owners, members and commands did, newest first',
      query: Type.Object({
        account_id: filterText('Of this account', [exampleId('acc')]),
        ...query.properties,
      }),
      answers,
      handler: async (call) => ({ status: 200, body: await list(call.query, call.query.account_id, true) }),
    }),
  ];
}

function readFilter({ actor, act, target, from, to }: Query, after: string | undefined): AuditFilter {
  const fromMs = readTime('from', from);
  const toMs = readTime('to', to);
  const before = [after, toMs === undefined ? undefined : idFloor('aud', toMs)].filter((id) => id !== undefined);
  return {
    ...{ actor: actor?.toLowerCase(), act, target },
    fromId: fromMs === undefined ? undefined : idFloor('aud', fromMs),
    beforeId: before.toSorted((a, b) => (a < b ? -1 : 1))[0],
  };
}

function readTime(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = readTimestamp(text);
  if (ms === undefined || ms < 0) throw invalidField(field, 'must be a time like 2026-01-31T12:00:00Z');
  return ms;
}

/** Hides the identity and address of operators from owners. */
function toRecord(entry: StoredEntry, forOperators: boolean) {
  const shown = forOperators || entry.actorKind !== 'operator';
  return {
    id: entry.id,
    time: toTimestamp(entry.createdAtMs),
    actor: {
      type: entry.actorKind,
      id: shown ? entry.actorId : null,
      email: shown ? entry.actorEmail : null,
    },
    account_id: entry.accountId,
    act: entry.act,
    target: { type: entry.targetKind, id: entry.targetId },
    details: entry.details,
    address: shown ? entry.address : null,
  };
}
