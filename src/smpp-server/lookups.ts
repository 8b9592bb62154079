// Tests: test/smpp-server/query-cancel.test.ts
import type { ShownMessage } from '../messages/message.ts';
import type { MessageService } from '../messages/message-service.ts';
import { notFound } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import { statuses } from '../smpp/pdu.ts';
import type { Parts } from './parts.ts';
import { errorNumberOf, incompleteError, stateNumberOf } from './receipt-pdu.ts';
import type { QueryAnswer } from './requests.ts';
import { writeSmppTime } from './submit-times.ts';

export interface LookupsOptions {
  messages: Pick<MessageService, 'require' | 'cancel'>;
  parts: Pick<Parts, 'find'>;
}

export type Lookups = ReturnType<typeof createLookups>;

const unfinished = ['scheduled', 'queued', 'sent'];

/** query_sm and cancel_sm: they read and cancel a message of the SMS API, by its id or that of one of its parts. */
export function createLookups({ messages, parts }: LookupsOptions) {
  /** The message of an id; undefined for a part without one. */
  async function messageIdOf(applicationId: string, id: string): Promise<string | undefined> {
    if (!isId('prt', id)) return id;
    const part = await parts.find(applicationId, id);
    if (part === undefined) throw notFound();
    return part.messageId ?? undefined;
  }

  function answerOf({ status, errorCode, updatedAtMs }: ShownMessage): QueryAnswer {
    return {
      status: statuses.ok,
      finalDate: unfinished.includes(status) ? '' : writeSmppTime(updatedAtMs),
      messageState: stateNumberOf(status),
      errorCode: errorNumberOf(errorCode),
    };
  }

  return {
    async query(applicationId: string, id: string): Promise<QueryAnswer> {
      const messageId = await messageIdOf(applicationId, id);
      if (messageId !== undefined) return answerOf(await messages.require(applicationId, 'sms', messageId));
      const part = await parts.find(applicationId, id);
      const waits = part?.body != null;
      const messageState = stateNumberOf(waits ? 'queued' : 'undelivered');
      return { status: statuses.ok, finalDate: '', messageState, errorCode: waits ? 0 : incompleteError };
    },

    async cancel(applicationId: string, id: string): Promise<number> {
      const messageId = await messageIdOf(applicationId, id);
      if (messageId === undefined) return statuses.cancelFailed;
      await messages.cancel(applicationId, 'sms', messageId);
      return statuses.ok;
    },
  };
}
