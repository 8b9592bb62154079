import { type Static, Type } from 'typebox';
import { nullable, openValues, recordId } from '../http/list-page.ts';
import { type MessageErrorCode, type MessageStatus, messageError, messageStatuses } from '../messages/message.ts';
import { messageErrorSchema } from '../messages/message-record.ts';
import { longestNumber, numberForm } from '../messages/numbers/phone-number.ts';
import type { SentText } from '../messages/text/sent-texts.ts';
import { timestampOrNull, toTimestamp } from '../platform/clock.ts';
import { paymentSchema, readPaymentCell } from './assurance/payment.ts';
import {
  attemptsRemaining,
  resendAtMs,
  type Verification,
  type VerificationStatus,
  verificationStatuses,
} from './verification.ts';
import {
  approvedVerification,
  checkedVerification,
  readVerification,
  startedVerification,
} from './verification-examples.ts';
import { reasons } from './verification-row.ts';

/** Why a verification has its status, or why a check refused a code. */
export const reasonSchema = openValues('VerificationReason', reasons, {
  description: 'The reason of the status; null while pending, and when approved',
  example: null,
});

const fields = {
  id: recordId('ver'),
  to: Type.String(),
  channel: Type.String(),
  status: openValues('VerificationStatus', verificationStatuses, { description: 'All except pending are final' }),
  reason: nullable(reasonSchema),
  code_length: Type.Integer({ examples: [6] }),
  attempts: Type.Integer({ examples: [0], description: 'Wrong codes so far' }),
  attempts_remaining: Type.Integer({ examples: [5] }),
  sends: Type.Integer(),
  resend_available_at: nullable(
    Type.String({
      description: 'When a start can send the code again; null if it no longer can',
      examples: ['2026-01-31T12:00:30.000Z'],
    }),
  ),
  created_at: Type.String(),
  updated_at: Type.String(),
  expires_at: Type.String(),
  approved_at: nullable(Type.String()),
  delivery: Type.Unsafe<ReturnType<typeof toVerificationRecord>['delivery']>({
    description: 'The latest text; null when none was sent',
    title: 'VerificationDelivery',
    type: ['object', 'null'],
    properties: {
      status: openValues('MessageStatus', messageStatuses, {
        description: 'The status of the text',
        example: 'queued',
      }),
      message_id: { type: 'string' },
      error: messageErrorSchema,
    },
    required: ['status', 'message_id', 'error'],
  }),
  deliveries: Type.Array(
    Type.Object(
      {
        channel: Type.String({ examples: ['sms'] }),
        status: openValues('MessageStatus', messageStatuses, {
          description: 'Its status; of a call, delivered means answered',
          example: 'queued',
        }),
        message_id: Type.String({ examples: ['msg_01jq8zkx5sf9btvkd0a2m4c6e8'] }),
        error: messageErrorSchema,
      },
      { title: 'SentCode' },
    ),
    { description: 'Each text, call or message with the code, oldest first' },
  ),
  reference: nullable(Type.String()),
  payment: Type.Optional(paymentSchema),
};

export const verificationSchema = Type.Object(fields, { title: 'Verification', examples: [approvedVerification] });
export type VerificationRecord = Static<typeof verificationSchema>;
export const startSchema = Type.Object(
  {
    ...fields,
    inbound: Type.Optional(
      Type.Object(
        {
          number: Type.String({ examples: ['+15005550199'] }),
          text: Type.String({ description: 'The text that the person sends', examples: ['ACME 48291374'] }),
        },
        { title: 'TextToReceive', description: 'With channel inbound: the text that the person sends, and where to' },
      ),
    ),
    sent: Type.Boolean({
      examples: [true],
      description:
        'Whether this start sent a text; false when it was blocked, or continued a verification without sending again',
    }),
  },
  { title: 'StartedVerification', examples: [startedVerification] },
);
const proof = Type.Optional(
  Type.String({
    examples: ['eyJhbGciOiJFUzI1NiIsInR5cCI6InBob25lLXByb29mK2p3dCJ9.e30.c2lnbmF0dXJl'],
    description: 'Signed proof that the number was verified; absent once it has expired',
  }),
);
export const readSchema = Type.Object(
  { ...fields, proof },
  { title: 'ReadVerification', examples: [readVerification] },
);
export const checkSchema = Type.Object(
  { ...fields, valid: Type.Boolean({ description: 'Whether the code was right', examples: [false] }), proof },
  { title: 'CheckedVerification', examples: [checkedVerification] },
);

export const verificationFilters = {
  to: Type.Optional(Type.String({ maxLength: longestNumber, description: `A number: ${numberForm}` })),
  status: Type.Optional(
    Type.Unsafe<VerificationStatus>({
      type: 'string',
      enum: [...verificationStatuses],
      expected: `one of ${verificationStatuses.join(', ')}`,
    }),
  ),
  reference: Type.Optional(Type.String({ maxLength: 128, description: 'Your own reference' })),
};

const toDelivery = (text: SentText) => deliveryOf(text, text.channel);

function deliveryOf({ status, messageId, errorCode }: TextState, channel: string) {
  return { channel, status, message_id: messageId, error: messageError(errorCode) };
}

/** The newest text of a verification. */
export interface TextState {
  messageId: string;
  status: MessageStatus;
  errorCode: MessageErrorCode | null;
}

interface RecordOptions {
  /** For the answer to a start: whether that start sent a text. */
  sent?: boolean | undefined;
  /** The texts of a verification that has several, oldest first. */
  all?: readonly SentText[] | undefined;
}

const noOptions: RecordOptions = {};

/** The verification as the API returns it. */
export function toVerificationRecord(
  verification: Verification,
  text: TextState | undefined,
  { sent, all }: RecordOptions = noOptions,
) {
  return {
    id: verification.id,
    to: verification.to,
    channel: verification.channel,
    status: verification.status,
    reason: verification.reason,
    code_length: verification.codeLength,
    attempts: verification.attempts,
    attempts_remaining: attemptsRemaining(verification),
    sends: verification.sends,
    ...(sent !== undefined && { sent }),
    resend_available_at: timestampOrNull(resendAtMs(verification)),
    created_at: toTimestamp(verification.createdAtMs),
    updated_at: toTimestamp(verification.updatedAtMs),
    expires_at: toTimestamp(verification.expiresAtMs),
    approved_at: timestampOrNull(verification.approvedAtMs),
    delivery:
      text === undefined
        ? null
        : { status: text.status, message_id: text.messageId, error: messageError(text.errorCode) },
    deliveries: all?.map(toDelivery) ?? (text === undefined ? [] : [deliveryOf(text, verification.channel)]),
    reference: verification.reference,
    ...(verification.payment !== null && { payment: readPaymentCell(verification.payment) }),
  };
}
