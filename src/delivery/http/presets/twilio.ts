import type { Preset } from './preset.ts';

const forbidden = [{ status: [401, 403], class: 'account' }] as const;

/** Twilio Programmable Messaging, API 2010-04-01. */
export const twilio: Preset = {
  title: 'Twilio',
  base: 'https://api.twilio.com',
  account: ['account_sid'],
  fields: {
    account_sid: { help: 'Account SID, begins with AC' },
    auth_token: {
      secret: true,
      help: 'Auth token: it signs the callbacks, and the requests unless there is an API key',
    },
    api_key_sid: { required: false, help: 'SID of an API key, begins with SK' },
    api_key_secret: { secret: true, required: false, help: 'Secret of the API key' },
    messaging_service_sid: { required: false, help: 'Messaging Service that sends, begins with MG' },
  },
  problems({ api_key_sid: sid, api_key_secret: secret }) {
    if ((sid === undefined) === (secret === undefined)) return [];
    const field = sid === undefined ? 'api_key_sid' : 'api_key_secret';
    return [{ field: `settings.${field}`, message: 'is required: an API key has a SID and a secret' }];
  },
  describe({ api_key_sid: sid, messaging_service_sid: service }) {
    const verify = { kind: 'twilio-sha1', secret: 'auth_token' } as const;
    return {
      url: '{{base}}/2010-04-01/Accounts/{{value:account_sid}}/Messages.json',
      auth:
        sid === undefined
          ? { kind: 'basic', user: '{{value:account_sid}}', password: '{{secret:auth_token}}' }
          : { kind: 'basic', user: '{{value:api_key_sid}}', password: '{{secret:api_key_secret}}' },
      form: {
        To: '{{to}}',
        ...(service === undefined ? { From: '{{from}}' } : { MessagingServiceSid: '{{value:messaging_service_sid}}' }),
        Body: '{{text}}',
        // Our id in the callback's URL, which is signed: a text whose answer was lost still gets its receipt.
        StatusCallback: '{{receipts_url}}?m={{id}}',
        ValidityPeriod: '{{validity|clamp:1:36000}}',
      },
      accepted: [{ status: [200, 201] }],
      id: 'sid',
      told: { parts: 'num_segments', price: 'price', currency: 'price_unit' },
      errors: [
        { path: 'code', in: [20003, 20005, 20006, 20008, 30002, 90010], class: 'account' },
        { path: 'code', in: [20429, 14107, 30001, 30022], class: 'throttled', after: 'header:retry-after' },
        { path: 'code', in: [21610], class: 'never', code: 'blocked_by_recipient' },
        { path: 'code', in: [21211, 21214, 21217, 21614, 21265], class: 'never', code: 'invalid_destination' },
        { path: 'code', in: [21408, 21612, 21635], class: 'elsewhere', code: 'blocked_by_carrier' },
        {
          path: 'code',
          in: [21212, 21213, 21603, 21606, 21611, 21659, 21660, 21661, 21703, 21704],
          class: 'elsewhere',
          code: 'sender_rejected',
        },
        { path: 'code', in: [21602, 21605, 21617, 21619, 30007, 30038], class: 'never', code: 'content_rejected' },
        { status: [429], class: 'throttled', after: 'header:retry-after' },
        ...forbidden.map((each) => ({ ...each, status: [...each.status] })),
      ],
      receipt: {
        id: 'MessageSid',
        reference: 'query:m',
        to: 'To',
        state: {
          path: 'MessageStatus',
          map: {
            delivered: 'delivered',
            read: 'delivered',
            undelivered: 'undelivered',
            failed: 'failed',
            canceled: 'failed',
            accepted: 'pending',
            scheduled: 'pending',
            queued: 'pending',
            sending: 'pending',
            sent: 'pending',
          },
        },
        error: {
          path: 'ErrorCode',
          map: {
            '30003': 'unreachable',
            '30004': 'blocked_by_carrier',
            '30005': 'invalid_destination',
            '30006': 'invalid_destination',
            '30007': 'content_rejected',
            '30008': 'unknown',
            '30034': 'sender_rejected',
            '30036': 'expired',
            '30038': 'content_rejected',
            '21610': 'blocked_by_recipient',
          },
        },
        verify,
      },
      inbound: {
        id: 'MessageSid',
        from: 'From',
        to: 'To',
        text: 'Body',
        verify,
        answer: { type: 'text/xml', body: '<Response/>' },
      },
    };
  },
};
