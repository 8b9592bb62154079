import { codes } from './codes.ts';
import type { Preset } from './preset.ts';

/** Plivo Messaging. A long text is reported part by part. */
export const plivo: Preset = {
  title: 'Plivo',
  base: 'https://api.plivo.com',
  account: ['auth_id'],
  fields: {
    auth_id: { help: 'Auth ID of the account' },
    auth_token: { secret: true, help: 'Auth token: it also signs the callbacks' },
    powerpack_uuid: { required: false, help: 'Powerpack that chooses the sender' },
  },
  describe({ powerpack_uuid: powerpack }) {
    return {
      url: '{{base}}/v1/Account/{{value:auth_id}}/Message/',
      auth: { kind: 'basic', user: '{{value:auth_id}}', password: '{{secret:auth_token}}' },
      json: {
        ...(powerpack === undefined ? { src: '{{from}}' } : { powerpack_uuid: '{{value:powerpack_uuid}}' }),
        dst: '{{to|digits}}',
        text: '{{text}}',
        type: 'sms',
        url: '{{receipts_url}}?m={{id}}',
        method: 'POST',
      },
      accepted: [{ status: [200, 201, 202] }],
      id: 'message_uuid.0',
      errors: [{ status: [429], class: 'throttled', after: 'header:retry-after' }],
      receipt: {
        // The uuid of the answer is the parent of every part.
        id: 'ParentMessageUUID|MessageUUID',
        part: 'PartInfo',
        reference: 'query:m',
        to: 'To',
        state: {
          path: 'Status',
          map: {
            delivered: 'delivered',
            undelivered: 'undelivered',
            failed: 'failed',
            rejected: 'failed',
            queued: 'pending',
            sent: 'pending',
          },
        },
        error: {
          path: 'ErrorCode',
          map: codes({
            content_rejected: [10, 30, 110],
            carrier_unavailable: [20, 90, 300],
            sender_rejected: [40, 201],
            invalid_destination: [50, 70],
            unreachable: [80],
            blocked_by_carrier: [60, 100, 450],
            blocked_by_recipient: [200],
            expired: [420],
            unknown: [900, 1000],
          }),
        },
        // Plivo promises only V2 for messages. V2 does not sign the body: a receipt must match our id and the number.
        verify: { kind: 'plivo-v2', secret: 'auth_token' },
      },
      inbound: {
        id: 'MessageUUID',
        from: 'From',
        to: 'To',
        text: 'Text',
        verify: { kind: 'plivo-v3', secret: 'auth_token' },
        answer: { type: 'text/xml', body: '<Response/>' },
      },
    };
  },
};
