// Tests: test/smpp-server/query-cancel.test.ts
import type { ShownMessage } from '../messages/message.ts';
import type { MessageService } from '../messages/message-service.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import { statuses } from '../smpp/pdu.ts';
import type { FoundPart } from './part-store.ts';
import { givenUpAfterMs } from './part-sweep.ts';
import type { Parts } from './parts.ts';
import { errorNumberOf, incompleteError, stateNumberOf } from './receipt-pdu.ts';
import type { QueryAnswer } from './requests.ts';
import { writeSmppTime } from './submit-times.ts';
import { refusedQuery } from './submits.ts';

export interface LookupsOptions {
  messages: Pick<MessageService, 'require' | 'cancel'>;
  parts: Pick<Parts, 'find' | 'cancel'>;
}

export type Lookups = ReturnType<typeof createLookups>;

const unfinished = ['scheduled', 'queued', 'sent'];

/** query_sm and cancel_sm: they read and cancel a message of the SMS API, by its id or that of one of its parts. */
export function createLookups({ messages, parts }: LookupsOptions) {
  /** Undefined for the id of a message. */
  async function partOf(applicationId: string, id: string): Promise<FoundPart | undefined> {
    if (!isId('prt', id)) return undefined;
    const part = await parts.find(applicationId, id);
    if (part === undefined) throw notFound();
    return part;
  }

  function answerOf({ status, errorCode, updatedAtMs }: ShownMessage): QueryAnswer {
    return {
      status: statuses.ok,
      finalDate: unfinished.includes(status) ? '' : writeSmppTime(updatedAtMs),
      messageState: stateNumberOf(status),
      errorCode: errorNumberOf(errorCode),
    };
  }

  function answerOfPart({ body, createdAtMs, endedAtMs, endedAs }: FoundPart): QueryAnswer {
    if (body !== null) return { ...refusedQuery(statuses.ok), messageState: stateNumberOf('queued') };
    const status = endedAs ?? 'undelivered';
    return {
      status: statuses.ok,
      finalDate: writeSmppTime(endedAtMs ?? createdAtMs + givenUpAfterMs),
      messageState: stateNumberOf(status),
      errorCode: status === 'canceled' ? 0 : incompleteError,
    };
  }

  return {
    async query(applicationId: string, id: string): Promise<QueryAnswer> {
      const part = await partOf(applicationId, id);
      if (part?.messageId === null) return answerOfPart(part);
      return answerOf(await messages.require(applicationId, 'sms', part?.messageId ?? id));
    },

    async cancel(applicationId: string, id: string): Promise<number> {
      const part = await partOf(applicationId, id);
      if (part?.messageId === null) return (await parts.cancel(part)) ? statuses.ok : statuses.cancelFailed;
      try {
        await messages.cancel(applicationId, 'sms', part?.messageId ?? id);
        return statuses.ok;
      } catch (error) {
        // The text of the part is whole, and its message is being written.
        if (part?.body != null && error instanceof ApiError && error.code === 'NOT_FOUND') return statuses.cancelFailed;
        throw error;
      }
    },
  };
}
