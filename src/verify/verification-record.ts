import { type Static, Type } from 'typebox';
import { nullable } from '../http/list-page.ts';
import { type MessageErrorCode, type MessageStatus, messageError } from '../messages/message.ts';
import { longestNumber, numberForm } from '../messages/phone-number.ts';
import { timestampOrNull, toTimestamp } from '../platform/clock.ts';
import { attemptsRemaining, type Verification, type VerificationStatus, verificationStatuses } from './verification.ts';

const fields = {
  id: Type.String(),
  to: Type.String(),
  channel: Type.String(),
  status: Type.String({ description: 'pending, approved, failed, expired, canceled or blocked' }),
  reason: nullable(Type.String()),
  code_length: Type.Integer(),
  attempts: Type.Integer({ description: 'Wrong codes so far' }),
  attempts_remaining: Type.Integer(),
  sends: Type.Integer(),
  resend_available_at: nullable(Type.String()),
  created_at: Type.String(),
  updated_at: Type.String(),
  expires_at: Type.String(),
  approved_at: nullable(Type.String()),
  delivery: Type.Unsafe<ReturnType<typeof toVerificationRecord>['delivery']>({
    description: 'The latest text; null when none was sent',
    type: ['object', 'null'],
    properties: {
      status: { type: 'string' },
      message_id: { type: 'string' },
      error: {
        type: ['object', 'null'],
        properties: { code: { type: 'string' }, message: { type: 'string' }, permanent: { type: 'boolean' } },
      },
    },
  }),
  reference: nullable(Type.String()),
};

export const verificationSchema = Type.Object(fields);
export type VerificationRecord = Static<typeof verificationSchema>;
export const startSchema = Type.Object({
  ...fields,
  sent: Type.Boolean({
    description:
      'Whether this start sent a text; false when it was blocked, or continued a verification without sending again',
  }),
});
const proof = Type.Optional(
  Type.String({ description: 'Signed proof that the number was verified; absent once it has expired' }),
);
export const readSchema = Type.Object({ ...fields, proof });
export const checkSchema = Type.Object({ ...fields, valid: Type.Boolean(), proof });

export const verificationFilters = {
  to: Type.Optional(Type.String({ maxLength: longestNumber, description: `A number: ${numberForm}` })),
  status: Type.Optional(
    Type.Unsafe<VerificationStatus>({
      type: 'string',
      enum: [...verificationStatuses],
      expected: `one of ${verificationStatuses.join(', ')}`,
    }),
  ),
  reference: Type.Optional(Type.String({ maxLength: 128 })),
};

/** The newest text of a verification. */
export interface TextState {
  messageId: string;
  status: MessageStatus;
  errorCode: MessageErrorCode | null;
}

/** The verification as the API returns it. `sent` is for the answer to a start: whether that start sent a text. */
export function toVerificationRecord(verification: Verification, text: TextState | undefined, sent?: boolean) {
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
    resend_available_at: timestampOrNull(verification.resendAvailableAtMs),
    created_at: toTimestamp(verification.createdAtMs),
    updated_at: toTimestamp(verification.updatedAtMs),
    expires_at: toTimestamp(verification.expiresAtMs),
    approved_at: timestampOrNull(verification.approvedAtMs),
    delivery:
      text === undefined
        ? null
        : { status: text.status, message_id: text.messageId, error: messageError(text.errorCode) },
    reference: verification.reference,
  };
}
