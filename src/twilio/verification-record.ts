import { type Static, Type } from 'typebox';
import { nullable } from '../http/list-page.ts';
import { exampleSid } from '../http/openapi/field-examples.ts';
import { idTimeMs } from '../platform/ids.ts';
import type { Verification, VerificationStatus } from '../verify/verification.ts';
import { toSeconds } from './dates.ts';
import { sidOf } from './sid.ts';

const time = (about: string) => Type.String({ description: about, examples: ['2026-01-31T12:00:00Z'] });
const sid = (prefix: string, about: string) => Type.String({ description: about, examples: [exampleSid(prefix)] });

const shared = {
  sid: sid('VE', 'The verification'),
  service_sid: sid('VA', 'The application'),
  account_sid: sid('AC', 'The application'),
  to: Type.String({ examples: ['+447700900123'] }),
  channel: Type.String({ description: 'sms, call or whatsapp', examples: ['sms'] }),
  status: Type.String({ description: 'pending, approved, canceled or failed', examples: ['pending'] }),
  valid: Type.Boolean({ description: 'Whether it is approved', examples: [false] }),
  amount: nullable(Type.String({ description: 'Always null', examples: [null] })),
  payee: nullable(Type.String({ description: 'Always null', examples: [null] })),
  date_created: time('When it began'),
  date_updated: time('When it last changed'),
};

export const verificationSchema = Type.Object(
  {
    ...shared,
    lookup: Type.Object({}, { description: 'Always empty', examples: [{}] }),
    send_code_attempts: Type.Array(
      Type.Object(
        {
          time: time('When it was sent'),
          channel: Type.String({ description: 'SMS, CALL or WHATSAPP', examples: ['SMS'] }),
          attempt_sid: sid('VL', 'The text'),
        },
        { title: 'TwilioSendCodeAttempt' },
      ),
      { description: 'The texts with its code' },
    ),
    sna: nullable(Type.String({ description: 'Always null', examples: [null] })),
    url: Type.String({ description: 'Where to read it', examples: ['http://127.0.0.1:8080/twilio/v2/Services'] }),
  },
  { title: 'TwilioVerification' },
);

export const checkSchema = Type.Object(
  {
    ...shared,
    sna_attempts_error_codes: Type.Array(Type.Integer({ examples: [60001] }), {
      description: 'Always empty',
      examples: [[]],
    }),
  },
  { title: 'TwilioVerificationCheck' },
);

/** Twilio has no `expired`; a blocked start is an error there. */
const shownStatus: Record<VerificationStatus, string> = {
  pending: 'pending',
  approved: 'approved',
  failed: 'failed',
  expired: 'failed',
  canceled: 'canceled',
  blocked: 'failed',
};

const channelName = (channel: string) => (channel === 'voice' ? 'call' : channel);

function sharedOf(row: Verification) {
  return {
    sid: sidOf('VE', row.id),
    service_sid: sidOf('VA', row.applicationId),
    account_sid: sidOf('AC', row.applicationId),
    to: row.to,
    channel: channelName(row.channel),
    status: shownStatus[row.status],
    valid: row.status === 'approved',
    amount: null,
    payee: null,
    date_created: toSeconds(row.createdAtMs),
    date_updated: toSeconds(row.updatedAtMs),
  };
}

/** `sent`: texts with their channels. A text that is missing there was sent by the verification's own channel. */
export function toVerification(
  row: Verification,
  publicUrl: string,
  sent: readonly { messageId: string; channel: string }[] = [],
): Static<typeof verificationSchema> {
  const channels = new Map(sent.map(({ messageId, channel }) => [messageId, channel]));
  const attempts = row.textIds.map((id) => ({
    time: toSeconds(idTimeMs(id)),
    channel: channelName(channels.get(id) ?? row.channel).toUpperCase(),
    attempt_sid: sidOf('VL', id),
  }));
  const record = sharedOf(row);
  return {
    ...record,
    lookup: {},
    send_code_attempts: attempts,
    sna: null,
    url: `${publicUrl}/twilio/v2/Services/${record.service_sid}/Verifications/${record.sid}`,
  };
}

export function toCheck(row: Verification): Static<typeof checkSchema> {
  return { ...sharedOf(row), sna_attempts_error_codes: [] };
}
