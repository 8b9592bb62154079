import { type Static, Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import { findAttemptStories, withAttempts } from '../../delivery/attempts/story.ts';
import { nullable, openValues } from '../../http/list-page.ts';
import type { Call } from '../../http/route.ts';
import { toTimeline } from '../../http/timeline.ts';
import type { MessageStatus } from '../../messages/message.ts';
import { toMessageRecord } from '../../messages/message-record.ts';
import { messageTimeline, toSentTexts } from '../../messages/tracked-message.ts';
import { findTextsByIds } from '../../messages/tracked-message-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import { isId } from '../../platform/ids.ts';
import { isWaiting, type WaitStories, waitEvents } from '../../quality/waiting/stories.ts';
import { findApplicationsById } from '../../registry/found-store.ts';
import { findAnyVerification } from '../../verify/number-search-store.ts';
import { asOf } from '../../verify/verification.ts';
import { toVerificationRecord } from '../../verify/verification-record.ts';
import { readVerificationTimeline } from '../../verify/verification-timeline.ts';
import { toAttempts } from '../developer/attempt-record.ts';
import { detailSchema as messageDetail } from '../developer/message-api.ts';
import { storySchema, toStory } from '../developer/request-api.ts';
import { detailSchema as verificationDetail } from '../developer/verification-api.ts';
import type { FindService } from './find-service.ts';

const types = ['message', 'verification', 'request'] as const;

export const openedSchema = Type.Object(
  {
    type: openValues('OpenedType', types, { description: 'Which of the three fields below is set' }),
    application_id: Type.String(),
    application_name: nullable(Type.String({ description: 'Null for an application that was deleted' })),
    account_id: nullable(Type.String()),
    message: nullable(messageDetail),
    verification: nullable(verificationDetail),
    request: nullable(storySchema),
  },
  { title: 'OpenedRecord' },
);
export type OpenedRecord = Static<typeof openedSchema>;

export interface OpeningOptions {
  database: Database;
  clock: Clock;
  audit: Audit;
  service: FindService;
  waits: WaitStories;
}

/** A record that was read. `show` completes it with the name of its application. */
interface Read {
  type: (typeof types)[number];
  applicationId: string;
  show(applicationName: string): Partial<Pick<OpenedRecord, (typeof types)[number]>>;
}

/** Opens records of any account for operators, and writes who did it before it answers. */
export function createRecordOpening({ database, clock, audit, service, waits }: OpeningOptions) {
  const findWaits = (tx: Tx, texts: readonly { id: string; status: MessageStatus }[]) =>
    waits.find(
      texts.filter(isWaiting).map(({ id }) => id),
      tx,
    );

  async function readMessage(tx: Tx, id: string): Promise<Read | undefined> {
    const [message] = await findTextsByIds(tx, [id]);
    if (message === undefined) return undefined;
    // The text of a verification is shown with the verification.
    if (message.verificationId !== null) return readVerification(tx, message.verificationId);
    const attempts = await findAttemptStories(tx, [id]);
    const waiting = await findWaits(tx, [message]);
    const events = withAttempts(messageTimeline(message), attempts);
    return {
      type: 'message',
      applicationId: message.applicationId,
      show: () => ({
        message: {
          ...toMessageRecord(message),
          api: message.api,
          correlation_id: message.correlationId,
          attempts: message.attempt,
          submits: toAttempts([...attempts.values()].flat()),
          timeline: toTimeline([...events, ...waitEvents(waiting, clock.nowMs(), 'forOperators')]),
          waiting: waiting.get(id)?.forOperators ?? null,
        },
      }),
    };
  }

  async function readVerification(tx: Tx, id: string): Promise<Read | undefined> {
    const found = await findAnyVerification(tx, id);
    if (found === undefined) return undefined;
    const verification = asOf(found, clock.nowMs());
    const texts = await findTextsByIds(tx, verification.textIds);
    const newest = texts.at(-1);
    const attempts = await findAttemptStories(tx, verification.textIds);
    const waiting = await findWaits(tx, texts);
    const events = withAttempts(await readVerificationTimeline(tx, verification, texts), attempts);
    return {
      type: 'verification',
      applicationId: verification.applicationId,
      show: () => ({
        verification: {
          ...toVerificationRecord(verification, newest && { ...newest, messageId: newest.id }, {
            all: toSentTexts(texts),
          }),
          correlation_id: verification.correlationId,
          submits: toAttempts([...attempts.values()].flat()),
          timeline: toTimeline([...events, ...waitEvents(waiting, clock.nowMs(), 'forOperators')]),
          waiting: (newest && waiting.get(newest.id)?.forOperators) ?? null,
        },
      }),
    };
  }

  async function readRequest(id: string): Promise<Read | undefined> {
    const story = await service.findStory('all', id);
    if (story === undefined) return undefined;
    return {
      type: 'request',
      applicationId: story.applicationId,
      show: (name) => ({ request: toStory(story, name) as OpenedRecord['request'] }),
    };
  }

  async function read(tx: Tx, id: string): Promise<Read | undefined> {
    if (isId('msg', id)) return readMessage(tx, id);
    if (isId('ver', id)) return readVerification(tx, id);
    return undefined;
  }

  /** The answer, with its entry in the audit log. */
  async function opened(tx: Tx, call: Call, id: string, found: Read | undefined): Promise<OpenedRecord> {
    if (found === undefined) throw notFound();
    const { type, applicationId } = found;
    const owner = (await findApplicationsById(tx, [applicationId])).get(applicationId);
    const accountId = owner?.accountId ?? null;
    await audit.record(tx, call, { act: `${type}.opened`, id, accountId, details: { application_id: applicationId } });
    return {
      ...{ type, application_id: applicationId, application_name: owner?.name ?? null, account_id: accountId },
      ...{ message: null, verification: null, request: null },
      ...found.show(owner?.name ?? ''),
    };
  }

  return async (call: Call, id: string): Promise<OpenedRecord> => {
    // Reading a timeline uses connections of its own, so it comes before the transaction.
    const story = isId('req', id) ? await readRequest(id) : undefined;
    return database.transaction(async (tx) => opened(tx, call, id, story ?? (await read(tx, id))));
  };
}
