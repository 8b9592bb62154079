import { type MessageErrorCode, type MessageStatus, messageError, type ShownMessage } from '../../messages/message.ts';
import type { OutgoingCall } from '../../platform/http-out/client.ts';
import { toErrorNumber, toStatus } from '../message-record.ts';
import { sidOf } from '../sid.ts';
import { signatureOf } from './signature.ts';

/** A change of a text that must be reported to its callback URL. */
export interface StatusCall {
  applicationId: string;
  messageId: string;
  /** The sequence number of the change. */
  sequence: number;
  status: MessageStatus;
  errorCode: MessageErrorCode | null;
  /** Number of attempts, with the one that is about to begin. */
  attempts: number;
  url: string;
}

/** The request with Twilio's parameters and signature. */
export function toRequest(
  call: StatusCall,
  { to, sender }: Pick<ShownMessage, 'to' | 'sender'>,
  token: string,
): OutgoingCall {
  const { applicationId, messageId, sequence, status, errorCode, url } = call;
  const sid = sidOf('SM', messageId);
  const shown = toStatus(status);
  const number = toErrorNumber(errorCode);
  const parameters: Record<string, string> = {
    AccountSid: sidOf('AC', applicationId),
    ApiVersion: '2010-04-01',
    From: sender,
    MessageSid: sid,
    MessageStatus: shown,
    SmsSid: sid,
    SmsStatus: shown,
    To: to,
    ...(number !== null && { ErrorCode: String(number), ErrorMessage: messageError(errorCode)?.message ?? '' }),
  };
  return {
    url,
    headers: {
      'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'user-agent': 'heliograph',
      'x-twilio-signature': signatureOf(token, url, parameters),
      // Every attempt of a change has the same value.
      'i-twilio-idempotency-token': `${sid}-${sequence}`,
    },
    body: new URLSearchParams(parameters).toString(),
  };
}
