// Africa's Talking, after its documentation of bulk SMS. Its dashboard has the addresses of callbacks; nothing is signed.
import { formCall, type Provider } from './call.ts';

const key = 'at-key-Zq7';
let given = 0;

const recipient = (statusCode: number, status: string, messageId: string) => ({
  status: 201,
  body: {
    SMSMessageData: {
      Message: 'Sent to 1/1 Total Cost: KES 0.8000',
      Recipients: [{ statusCode, number: '+447700900123', status, cost: 'KES 0.8000', messageId }],
    },
  },
});

export const africasTalking: Provider = {
  preset: 'africas-talking',
  settings: { username: 'acme', api_key: key },
  wrong: { api_key: 'another' },
  secrets: [key],
  recorded: {
    path: '/version1/messaging',
    fields: { username: 'acme', to: '+447700900123', message: 'Hi € {{to}}', from: 'ACME' },
  },
  fieldsOf: ({ body }) => Object.fromEntries(new URLSearchParams(body)),
  answer({ headers }) {
    if (headers.apikey !== key) return { status: 401, body: 'The supplied authentication is invalid' };
    return recipient(101, 'Success', `ATPid_${++given}`);
  },
  taken({ body }, answer) {
    const { to = '', from = '', message = '' } = Object.fromEntries(new URLSearchParams(body));
    const { SMSMessageData } = answer.body as { SMSMessageData: { Recipients: { messageId: string }[] } };
    return {
      id: SMSMessageData.Recipients[0]?.messageId ?? '',
      ours: '',
      to,
      from,
      text: message,
      callback: undefined,
    };
  },
  refusals: [
    {
      what: '403, not a number',
      answer: recipient(403, 'InvalidPhoneNumber', 'None'),
      status: 'failed',
      error: 'invalid_destination',
    },
    {
      what: '406, blacklisted',
      answer: recipient(406, 'UserInBlacklist', 'None'),
      status: 'failed',
      error: 'blocked_by_recipient',
    },
    {
      what: '402, not your sender',
      answer: recipient(402, 'InvalidSenderId', 'None'),
      status: 'failed',
      error: 'sender_rejected',
    },
    {
      what: 'no recipient, since the sender is wrong',
      answer: { status: 201, body: { SMSMessageData: { Message: 'InvalidSenderId', Recipients: [] } } },
      status: 'failed',
      error: 'sender_rejected',
    },
  ],
  throttled: { status: 429, headers: { 'Retry-After': '1' }, body: 'Too many requests' },
  receipt: ({ id, to }, { url, state, error }) =>
    formCall(
      url,
      {
        id,
        status: state,
        phoneNumber: to,
        networkCode: '63902',
        ...(error !== undefined && { failureReason: error }),
      },
      {},
    ),
  states: [
    { state: 'Failed', error: 'UserIsInactive', status: 'undelivered', code: 'unreachable' },
    { state: 'Failed', error: 'UserInBlackList', status: 'undelivered', code: 'blocked_by_recipient' },
    { state: 'Rejected', error: 'UserAccountSuspended', status: 'failed', code: 'blocked_by_carrier' },
    { state: 'Success', status: 'delivered' },
  ],
  forgeries: {},
  inbound: (url) =>
    formCall(
      url,
      {
        id: 'in1',
        from: '+447700900999',
        to: '22884',
        text: 'STOP & go',
        date: '2026-01-01 12:00:00',
        linkId: 'l1',
        networkCode: '63902',
      },
      {},
    ),
};
