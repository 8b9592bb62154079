import { type Static, Type } from 'typebox';
import { nullable, openValues } from '../../http/list-page.ts';
import { exampleId, exampleSpan } from '../../http/openapi/field-examples.ts';
import type { Message } from '../../messages/message.ts';
import { maskNumber } from '../../messages/numbers/phone-number.ts';
import { toTimestamp } from '../../platform/clock.ts';
import { idTimeMs } from '../../platform/ids.ts';
import type { FoundApplication } from '../../registry/found-store.ts';
import { asOf, type Verification } from '../../verify/verification.ts';
import type { RequestStory } from '../developer/request-api.ts';

export const foundTypes = [
  'message',
  'verification',
  'request',
  'application',
  'account',
  'key',
  'client',
  'registration',
  'sender',
  'webhook',
] as const;
export type FoundType = (typeof foundTypes)[number];

const foundSchema = Type.Object(
  {
    type: openValues('FoundType', foundTypes, { description: 'The kind of result' }),
    id: Type.String({ examples: [exampleId('msg')] }),
    name: nullable(Type.String({ examples: ['ACME'], description: 'The name of an application or an account' })),
    to: nullable(
      Type.String({ description: 'The number of a text or verification. Operators see it masked until they open it' }),
    ),
    status: nullable(
      Type.String({ examples: ['delivered'], description: 'The current status; for a request, that of its answer' }),
    ),
    at: Type.String({ description: 'When it was created' }),
    application_id: nullable(Type.String({ description: 'The application that it belongs to' })),
    application_name: nullable(Type.String({ description: 'Null for an application that was deleted' })),
    account_id: nullable(Type.String()),
  },
  { title: 'Found' },
);
export type Found = Static<typeof foundSchema>;

export const findSchema = Type.Object(
  {
    data: Type.Array(foundSchema),
    next_cursor: nullable(
      Type.String({ description: 'To search further back for the records of a number; null if all were searched' }),
    ),
    indexing: Type.Array(
      Type.String({
        examples: [exampleSpan.from],
        description: 'The beginning of a week whose texts are not searched yet: its index is being built',
      }),
    ),
  },
  { title: 'FindPage' },
);
export type FindPage = Static<typeof findSchema>;

type Owner = { name: string; accountId: string } | undefined;

const blank = { name: null, to: null, status: null };
const ownedBy = (applicationId: string, owner: { name: string; accountId: string } | undefined) => ({
  application_id: applicationId,
  application_name: owner?.name ?? null,
  account_id: owner?.accountId ?? null,
});

/** The search result for a text or a verification. A verification's own text leads to the verification. */
export function foundRecord(
  record: Message | Verification,
  { owner, masked, nowMs }: { owner: Owner; masked: boolean; nowMs: number },
): Found {
  const isText = 'segmentCount' in record;
  const { id, to, applicationId, createdAtMs } = record;
  return {
    ...blank,
    type: isText ? 'message' : 'verification',
    id,
    to: masked ? maskNumber(to) : to,
    status: isText ? record.status : asOf(record, nowMs).status,
    at: toTimestamp(createdAtMs),
    ...ownedBy(applicationId, owner),
  };
}

export function foundRequest({ correlationId, applicationId, status, code }: RequestStory, owner: Owner): Found {
  return {
    ...blank,
    type: 'request',
    id: correlationId,
    status: [status, code].filter((part) => part !== null).join(' '),
    at: toTimestamp(idTimeMs(correlationId)),
    ...ownedBy(applicationId, owner),
  };
}

export function foundApplication({ id, name, accountId, createdAtMs }: FoundApplication): Found {
  const at = toTimestamp(createdAtMs);
  return { ...blank, type: 'application', id, name, at, ...ownedBy(id, { name, accountId }) };
}

/** A key, client, registration, sender or webhook: its page is the application's. */
export function foundPart(type: FoundType, id: string, { id: applicationId, ...owner }: FoundApplication): Found {
  return { ...blank, type, id, at: toTimestamp(idTimeMs(id)), ...ownedBy(applicationId, owner) };
}

export function foundAccount({ id, name, createdAtMs }: { id: string; name: string; createdAtMs: number }): Found {
  const none = { application_id: null, application_name: null };
  return { ...blank, type: 'account', id, name, at: toTimestamp(createdAtMs), ...none, account_id: id };
}
