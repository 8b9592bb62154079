import { type Static, Type } from 'typebox';
import { nullable } from '../http/list-page.ts';
import { exampleSid } from '../http/openapi/field-examples.ts';
import { type MessageErrorCode, type MessageStatus, messageError, type ShownMessage } from '../messages/message.ts';
import { toRfc2822 } from './dates.ts';
import { sidOf } from './sid.ts';

const version = '2010-04-01';
const date = (about: string) => Type.String({ description: about, examples: ['Sat, 31 Jan 2026 12:00:00 +0000'] });
const uri = Type.String({
  description: "Without /twilio, which Twilio's libraries prepend",
  examples: [`/2010-04-01/Accounts/${exampleSid('AC')}/Messages.json`],
});
const sid = (prefix: string, about: string) => Type.String({ description: about, examples: [exampleSid(prefix)] });

export const messageSchema = Type.Object(
  {
    sid: sid('SM', 'The message'),
    account_sid: sid('AC', 'The application'),
    messaging_service_sid: nullable(sid('MG', 'As it was given with the message; null when it is read later')),
    api_version: Type.String({ examples: [version] }),
    body: nullable(Type.String({ description: 'Null once the retention time is over', examples: ['On its way.'] })),
    to: Type.String({ examples: ['+447700900123'] }),
    from: Type.String({ examples: ['ACME'] }),
    status: Type.String({
      description: 'scheduled, queued, sent, delivered, undelivered, failed or canceled',
      examples: ['queued'],
    }),
    direction: Type.String({ examples: ['outbound-api'] }),
    num_segments: Type.String({ examples: ['1'] }),
    num_media: Type.String({ examples: ['0'] }),
    error_code: nullable(Type.Integer({ description: "Twilio's number of the reason", examples: [null] })),
    error_message: nullable(Type.String({ description: 'The reason in words', examples: [null] })),
    price: nullable(Type.String({ description: 'Always null', examples: [null] })),
    price_unit: nullable(Type.String({ description: 'Always null', examples: [null] })),
    date_created: date('When it was accepted'),
    date_updated: date('When it last changed'),
    date_sent: nullable(date('When a carrier took it')),
    uri,
    subresource_uris: Type.Object(
      { media: uri },
      { title: 'TwilioSubresources', description: 'Only for compatibility: this service has no media' },
    ),
  },
  { title: 'TwilioMessage' },
);

export const messagePageSchema = Type.Object(
  {
    messages: Type.Array(messageSchema),
    page: Type.Integer({ description: 'Counts from 0', examples: [0] }),
    page_size: Type.Integer({ examples: [50] }),
    start: Type.Integer({ examples: [0] }),
    end: Type.Integer({ examples: [49] }),
    uri,
    first_page_uri: uri,
    next_page_uri: nullable(uri),
    previous_page_uri: nullable(Type.String({ description: 'Always null', examples: [null] })),
  },
  { title: 'TwilioMessagePage' },
);

/** Twilio has neither `expired` nor `unknown`. */
const shownStatus: Record<MessageStatus, string> = {
  scheduled: 'scheduled',
  queued: 'queued',
  sent: 'sent',
  delivered: 'delivered',
  undelivered: 'undelivered',
  failed: 'failed',
  expired: 'failed',
  canceled: 'canceled',
  unknown: 'sent',
};

export function toStatus(status: MessageStatus): string {
  return shownStatus[status];
}

const errorNumbers: Record<MessageErrorCode, number> = {
  invalid_destination: 30005,
  unreachable: 30003,
  blocked_by_carrier: 30007,
  blocked_by_recipient: 21610,
  content_rejected: 30007,
  sender_rejected: 30007,
  carrier_unavailable: 30001,
  expired: 30036,
  unknown: 30008,
  no_answer: 30003,
  busy: 30003,
  not_on_channel: 63024,
};

export function toErrorNumber(code: MessageErrorCode | null): number | null {
  return code === null ? null : errorNumbers[code];
}

/** The address of the list without `.json`. */
export function messagesUri(accountSid: string): string {
  return `/${version}/Accounts/${accountSid}/Messages`;
}

export function toMessage(
  message: ShownMessage,
  accountSid: string,
  messagingServiceSid: string | null = null,
): Static<typeof messageSchema> {
  const sid = sidOf('SM', message.id);
  const at = `${messagesUri(accountSid)}/${sid}`;
  const { createdAtMs, updatedAtMs, sentAtMs } = message;
  return {
    sid,
    account_sid: accountSid,
    messaging_service_sid: messagingServiceSid,
    api_version: version,
    body: message.body,
    to: message.to,
    from: message.sender,
    status: toStatus(message.status),
    direction: 'outbound-api',
    num_segments: String(message.segmentCount),
    num_media: '0',
    error_code: toErrorNumber(message.errorCode),
    error_message: messageError(message.errorCode)?.message ?? null,
    price: null,
    price_unit: null,
    date_created: toRfc2822(createdAtMs),
    date_updated: toRfc2822(updatedAtMs),
    date_sent: sentAtMs === null ? null : toRfc2822(sentAtMs),
    uri: `${at}.json`,
    subresource_uris: { media: `${at}/Media.json` },
  };
}
