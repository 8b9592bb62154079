// Tests: test/contract/portal-requests.test.ts
import { findAttemptStories, withAttempts } from '../../delivery/attempts/story.ts';
import type { Api } from '../../http/route.ts';
import type { TimelineEvent } from '../../http/timeline.ts';
import { messageTimeline, type TrackedMessage } from '../../messages/tracked-message.ts';
import { findMessagesOfRequest, findTextsByIds, findTrackedMessage } from '../../messages/tracked-message-store.ts';
import type { Metering } from '../../metering/metering.ts';
import { findTrace, type RequestTrace } from '../../metering/metering-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { idTimeMs, isId } from '../../platform/ids.ts';
import { readKept } from '../../platform/tracing/trace-context.ts';
import { isWaiting, type WaitStories, waitEvents } from '../../quality/waiting/stories.ts';
import { asOf, type Verification } from '../../verify/verification.ts';
import { findVerification, findVerificationOfRequest } from '../../verify/verification-store.ts';
import { verificationTimeline } from '../../verify/verification-timeline.ts';
import type { RequestRecord, RequestStory } from './request-api.ts';
import { calledPath, sentFrom } from './try-api.ts';

export interface RequestStories {
  find(accountId: string, correlationId: string): Promise<RequestStory | undefined>;
  /** Like `find`, in these applications only. */
  findWithin(applicationIds: string[], correlationId: string): Promise<RequestStory | undefined>;
}

/** The records that a request created, and the texts that it sent. */
interface Made {
  applicationId: string;
  api: Api;
  records: RequestRecord[];
  timeline: TimelineEvent[];
  traceId: string | null;
}

/** A batch has up to 1,000 texts; the first ones show why it waits. */
const mostWaits = 100;

/** Combines a request's trace, which is kept for a while, with the records it created, which last longer. */
export function createRequestStories(options: {
  database: Database;
  clock: Clock;
  metering: Metering;
  /** The account's applications: it sees only their requests. */
  applicationIdsOf: (accountId: string) => Promise<string[]>;
  waits: WaitStories;
}): RequestStories {
  const { database, clock, metering, applicationIdsOf, waits } = options;

  async function findMade(applicationIds: string[], correlationId: string): Promise<Made | undefined> {
    const texts = await findMessagesOfRequest(database, applicationIds, correlationId);
    const started = await findVerificationOfRequest(database, applicationIds, correlationId);
    if (started !== undefined) return madeVerification(started, texts);
    const first = texts[0];
    if (first === undefined) return undefined;
    // A repeated start sends the text of the pending verification again and creates no new one.
    if (first.verificationId !== null) {
      const continued = await findVerification(database, first.applicationId, first.verificationId);
      return continued && madeVerification(continued, texts);
    }
    return {
      applicationId: first.applicationId,
      api: first.api,
      records: texts.map(({ id, status }) => ({ type: 'message', id, status })),
      timeline: [...withAttempts(texts.flatMap(messageTimeline), await attemptsOf(texts)), ...(await waitsOf(texts))],
      traceId: traceOf(texts),
    };
  }

  const attemptsOf = (texts: TrackedMessage[]) =>
    findAttemptStories(
      database,
      texts.map(({ id }) => id),
    );

  async function waitsOf(texts: TrackedMessage[]): Promise<TimelineEvent[]> {
    const waiting = texts.filter(isWaiting).slice(0, mostWaits);
    return waitEvents(await waits.find(waiting.map(({ id }) => id)), clock.nowMs());
  }

  async function madeVerification(verification: Verification, texts: TrackedMessage[]): Promise<Made> {
    const own = texts.length > 0 ? texts : await findTextsByIds(database, verification.textIds);
    const { id, applicationId, status } = asOf(verification, clock.nowMs());
    return {
      applicationId,
      api: 'verify',
      records: [{ type: 'verification', id, status }],
      timeline: [
        ...withAttempts(verificationTimeline(asOf(verification, clock.nowMs()), own), await attemptsOf(own)),
        ...(await waitsOf(own)),
      ],
      traceId: traceOf(texts),
    };
  }

  /** The record that a request read or changed but did not create. */
  async function findAbout({ applicationId, recordId }: RequestTrace): Promise<RequestRecord[]> {
    if (recordId === null) return [];
    if (isId('msg', recordId)) {
      const message = await findTrackedMessage(database, applicationId, recordId);
      return message === undefined ? [] : [{ type: 'message', id: recordId, status: message.status }];
    }
    const verification = await findVerification(database, applicationId, recordId);
    if (verification === undefined) return [];
    return [{ type: 'verification', id: recordId, status: asOf(verification, clock.nowMs()).status }];
  }

  async function findWithin(applicationIds: string[], correlationId: string): Promise<RequestStory | undefined> {
    const trace = await findTrace(database, applicationIds, correlationId, clock.nowMs());
    const made = await findMade(applicationIds, correlationId);
    if (trace === undefined) return made === undefined ? undefined : fromRecord(correlationId, made);
    const records = made?.records ?? (await findAbout(trace));
    return fromTrace(trace, records, made?.timeline ?? [], made?.traceId ?? null);
  }

  return {
    findWithin,
    async find(accountId, correlationId) {
      if (!isId('req', correlationId)) return undefined;
      await metering.flush();
      return findWithin(await applicationIdsOf(accountId), correlationId);
    },
  };
}

function fromTrace(
  trace: RequestTrace,
  records: RequestRecord[],
  timeline: TimelineEvent[],
  traceId: string | null,
): RequestStory {
  const { id, applicationId, api, method, path, status, code, details, durationMs } = trace;
  const isRefused = status >= 400;
  const receivedAtMs = idTimeMs(id);
  const from = sentFrom(path) === 'portal' ? ' from the portal' : '';
  const quota = `${trace.remaining} of ${trace.limitPerMinute} left this minute`;
  const message = trace.message === null ? '' : `: ${trace.message}`;
  return {
    correlationId: id,
    applicationId,
    api,
    method,
    path,
    status,
    code,
    message: isRefused ? trace.message : null,
    outcome: isRefused ? null : trace.message,
    details,
    durationMs,
    limits: {
      admitted: trace.admitted,
      limit: trace.limitPerMinute,
      remaining: trace.remaining,
      retryAfterSeconds: trace.retryAfterSeconds,
      refusedBy: trace.refusedBy,
    },
    records,
    traceId: trace.traceId ?? traceId,
    timeline: [
      received(receivedAtMs, `${method} ${calledPath(path) ?? 'of an unknown path'}${from}`),
      trace.admitted
        ? { atMs: receivedAtMs, event: 'admitted', detail: `Within rate limit (${quota})` }
        : {
            atMs: receivedAtMs,
            event: 'refused',
            detail: `Over the ${trace.refusedBy} limit. Retry after ${trace.retryAfterSeconds} s.`,
          },
      ...timeline,
      {
        atMs: receivedAtMs + durationMs,
        event: 'answered',
        detail: `${status} after ${durationMs} ms${message}`,
      },
    ],
  };
}

const calls: Record<Api, { path: string; status: number }> = {
  sms: { path: '/sms/v1/messages', status: 201 },
  messaging: { path: '/messaging/v1/messages', status: 200 },
  verify: { path: '/verify/v1/verifications', status: 200 },
};

/** Without a trace the record still shows that the request was admitted and what it created. */
function fromRecord(correlationId: string, { applicationId, api, records, timeline, traceId }: Made): RequestStory {
  const receivedAtMs = idTimeMs(correlationId);
  const { path, status } = calls[api];
  return {
    correlationId,
    applicationId,
    api,
    method: 'POST',
    path: records.length > 1 ? `${path}/batch` : path,
    status,
    code: null,
    message: null,
    outcome: null,
    details: [],
    durationMs: null,
    limits: { admitted: true, limit: null, remaining: null, retryAfterSeconds: null, refusedBy: null },
    records,
    traceId,
    timeline: [
      received(receivedAtMs, 'Request received'),
      { atMs: receivedAtMs, event: 'admitted', detail: 'Within rate limit' },
      ...timeline,
    ],
  };
}

/** The id of the trace, from the texts that the request sent: they keep it longer than the trace itself is kept. */
function traceOf(texts: TrackedMessage[]): string | null {
  const kept = texts.find(({ trace }) => trace !== undefined)?.trace;
  return kept === undefined ? null : (readKept(kept)?.traceId ?? null);
}

function received(atMs: number, detail: string): TimelineEvent {
  return { atMs, event: 'received', detail };
}
