import { Type } from 'typebox';
import { nullable, openValues, recordId } from '../http/list-page.ts';
import { timestampOrNull, toTimestamp } from '../platform/clock.ts';
import {
  encodingNames,
  type MessageStatus,
  messageError,
  messageErrorCodes,
  messageStatuses,
  type ShownMessage,
} from './message.ts';
import { deliveredMessage } from './message-examples.ts';
import { longestNumber, numberForm } from './numbers/phone-number.ts';

export const segmentsSchema = Type.Object(
  {
    count: Type.Integer({ description: 'Number of segments' }),
    encoding: openValues('Encoding', encodingNames, { description: 'Character encoding of the text in the SMS' }),
    characters: Type.Integer({ examples: [30] }),
    remaining: Type.Integer({
      examples: [130],
      description: 'Septets or UTF-16 units that still fit into the last segment',
    }),
  },
  { title: 'Segments' },
);

export const messageErrorSchema = Type.Unsafe<ReturnType<typeof messageError>>({
  type: ['object', 'null'],
  title: 'DeliveryError',
  description: 'Why it was not delivered; null while it still may be',
  examples: [null],
  properties: {
    code: openValues('DeliveryErrorCode', messageErrorCodes, { description: 'Code of the reason, for programs' }),
    message: { type: 'string', description: 'The reason in words' },
    permanent: { type: 'boolean', description: 'Whether sending it again would fail too' },
  },
  required: ['code', 'message', 'permanent'],
});

export const messageSchema = Type.Object(
  {
    id: recordId('msg'),
    to: Type.String(),
    from: Type.String(),
    message: nullable(
      Type.String({
        examples: ['Your order has left our house.'],
        description: 'Null once the retention time is over',
      }),
    ),
    channel: Type.String(),
    status: openValues('MessageStatus', messageStatuses, {
      description: 'The latest status',
      example: 'queued',
    }),
    segments: segmentsSchema,
    reference: nullable(Type.String()),
    error: messageErrorSchema,
    created_at: Type.String(),
    updated_at: Type.String(),
    sent_at: nullable(Type.String()),
    delivered_at: nullable(Type.String()),
    expires_at: Type.String(),
    possible_duplicates: Type.Integer({
      examples: [0],
      description:
        'How many times it was sent again although it may have arrived: the maximum number of further copies',
    }),
  },
  { title: 'Message', examples: [deliveredMessage] },
);

export const messageFilters = {
  to: Type.Optional(Type.String({ maxLength: longestNumber, description: `A number: ${numberForm}` })),
  status: Type.Optional(
    Type.Unsafe<string>({
      type: 'string',
      enum: [...messageStatuses],
      expected: `one of ${messageStatuses.join(', ')}`,
    }),
  ),
  reference: Type.Optional(Type.String({ maxLength: 128, description: 'Your own reference' })),
};

/** The message as the API returns it. */
export function toMessageRecord(message: ShownMessage) {
  return {
    id: message.id,
    to: message.to,
    from: message.sender,
    message: message.body,
    channel: message.channel,
    status: message.status,
    segments: {
      count: message.segmentCount,
      encoding: message.encoding,
      characters: message.characters,
      remaining: message.remaining,
    },
    reference: message.reference,
    error: messageError(message.errorCode),
    created_at: toTimestamp(message.createdAtMs),
    updated_at: toTimestamp(message.updatedAtMs),
    sent_at: timestampOrNull(message.sentAtMs),
    delivered_at: timestampOrNull(message.deliveredAtMs),
    expires_at: toTimestamp(message.expiresAtMs),
    possible_duplicates: message.possibleDuplicates,
  };
}

/** The state of a message at the time of an event; its row may have changed since. */
export interface StateThen {
  status: MessageStatus;
  errorCode: ShownMessage['errorCode'];
  timeMs: number;
}

/** The message as the API returned it when it entered a state. */
export function toRecordThen(message: ShownMessage, { status, errorCode, timeMs }: StateThen): MessageRecord {
  const hasHappened = (atMs: number | null) => (atMs !== null && atMs <= timeMs ? atMs : null);
  return toMessageRecord({
    ...message,
    status,
    errorCode,
    updatedAtMs: timeMs,
    // Another carrier may have sent it again since.
    sentAtMs: status === 'sent' ? timeMs : hasHappened(message.sentAtMs),
    deliveredAtMs: status === 'delivered' ? timeMs : null,
  });
}

export type MessageRecord = ReturnType<typeof toMessageRecord>;
