// Infobip as documented: https://www.infobip.com/docs/api/channels/sms (version 3). Its callbacks are not signed.
import { jsonCall, type Provider } from './call.ts';

const key = 'infobip-key-Zq7';

interface Sent {
  messages: {
    sender: string;
    destinations: { to: string; messageId: string }[];
    content: { text: string };
    options?: unknown;
    webhooks?: { delivery: { url: string } };
  }[];
}
const messageOf = (body: string) => (JSON.parse(body) as Sent).messages[0];

const answered = (groupId: number, groupName: string, id: number, name: string) => ({
  status: 200,
  body: {
    bulkId: 'b1',
    messages: [
      {
        messageId: 'm1',
        status: { groupId, groupName, id, name, description: 'as documented' },
        destination: '447700900123',
      },
    ],
  },
});

export const infobip: Provider = {
  preset: 'infobip',
  settings: { api_key: key },
  wrong: { api_key: 'another' },
  secrets: [key],
  recorded: {
    path: '/sms/3/messages',
    fields: { sender: 'ACME', to: '447700900123', content: { text: 'Hi € {{to}}' }, contentType: 'application/json' },
  },
  fieldsOf({ body }) {
    const { sender, destinations, content, webhooks } = messageOf(body) ?? {};
    const { contentType } = webhooks as unknown as { contentType: string };
    return { sender, to: destinations?.[0]?.to, content, contentType };
  },
  answer({ headers, body }) {
    if (headers.authorization !== `App ${key}`)
      return {
        status: 401,
        body: { errorCode: 'E401', description: 'The request lacks valid authentication credentials.' },
      };
    const { destinations } = messageOf(body) ?? {};
    const status = {
      groupId: 1,
      groupName: 'PENDING',
      id: 26,
      name: 'PENDING_ACCEPTED',
      description: 'Message sent to next instance',
    };
    const [to] = destinations ?? [];
    return {
      status: 200,
      body: {
        bulkId: 'b1',
        messages: [{ messageId: to?.messageId, status, destination: to?.to, details: { messageCount: 1 } }],
      },
    };
  },
  taken({ body }, answer) {
    const { sender = '', destinations, content, webhooks } = messageOf(body) ?? {};
    const { messages } = answer.body as { messages: { messageId: string }[] };
    const id = messages[0]?.messageId ?? '';
    return {
      id,
      ours: id,
      to: destinations?.[0]?.to ?? '',
      from: sender,
      text: content?.text ?? '',
      callback: webhooks?.delivery.url,
    };
  },
  refusals: [
    {
      what: 'a destination that is refused',
      answer: answered(5, 'REJECTED', 52, 'REJECTED_INVALID_DESTINATION'),
      status: 'failed',
      error: 'invalid_destination',
    },
    {
      what: 'a sender that is refused',
      answer: answered(5, 'REJECTED', 13, 'REJECTED_SENDER'),
      status: 'failed',
      error: 'sender_rejected',
    },
    {
      what: 'do not disturb',
      answer: answered(5, 'REJECTED', 10, 'REJECTED_DND'),
      status: 'failed',
      error: 'blocked_by_recipient',
    },
    {
      what: 'too long',
      answer: answered(5, 'REJECTED', 25, 'REJECTED_MESSAGE_TOO_LONG'),
      status: 'failed',
      error: 'content_rejected',
    },
    {
      what: 'any other rejection',
      answer: answered(5, 'REJECTED', 999, 'REJECTED_NEW'),
      status: 'failed',
      error: 'blocked_by_carrier',
    },
  ],
  throttled: {
    status: 429,
    headers: { 'Retry-After': '1' },
    body: { errorCode: 'E429', description: 'Too many requests' },
  },
  receipt: ({ id, to, from }, { url, state, error = '0' }) =>
    jsonCall(url, {
      results: [
        {
          bulkId: 'b1',
          messageId: id,
          to,
          sender: from,
          sentAt: '2026-01-01T12:00:00.000+0000',
          doneAt: '2026-01-01T12:00:01.000+0000',
          messageCount: 1,
          mccMnc: '23410',
          price: { pricePerMessage: 0.01, currency: 'EUR' },
          status: { groupId: 3, groupName: state, id: 5, name: 'AS_DOCUMENTED' },
          error: { groupId: 0, groupName: 'OK', id: Number(error), name: 'AS_DOCUMENTED', permanent: false },
        },
      ],
    }),
  states: [
    { state: 'UNDELIVERABLE', error: '27', status: 'undelivered', code: 'unreachable' },
    { state: 'UNDELIVERABLE', error: '1', status: 'undelivered', code: 'invalid_destination' },
    { state: 'REJECTED', error: '9', status: 'failed', code: 'blocked_by_carrier' },
    { state: 'EXPIRED', error: '255', status: 'expired', code: 'unknown' },
    { state: 'DELIVERED', status: 'delivered' },
  ],
  forgeries: {},
  inbound: (url) =>
    jsonCall(url, {
      results: [
        {
          messageId: 'in1',
          from: '447700900999',
          to: '447700900001',
          text: 'STOP & go',
          cleanText: '& go',
          keyword: 'STOP',
          smsCount: 1,
        },
      ],
      messageCount: 1,
      pendingMessageCount: 0,
    }),
};
