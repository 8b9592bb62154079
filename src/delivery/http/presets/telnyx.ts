import { codes } from './codes.ts';
import type { Preset } from './preset.ts';

/** Telnyx Messaging, API version 2. Callbacks are signed with Ed25519 over their time and body. */
export const telnyx: Preset = {
  title: 'Telnyx',
  base: 'https://api.telnyx.com',
  account: ['messaging_profile_id'],
  fields: {
    api_key: { secret: true, help: 'API key, begins with KEY' },
    public_key: { help: 'Public key of your account, in base64: it proves callbacks' },
    messaging_profile_id: { required: false, help: 'Messaging profile; needed for senders that are names' },
  },
  problems({ public_key: key }) {
    const isKey = typeof key === 'string' && Buffer.from(key, 'base64').length === 32;
    return isKey
      ? []
      : [{ field: 'settings.public_key', message: 'must be 32 octets in base64, as the Telnyx portal shows it' }];
  },
  describe() {
    const code = 'errors.0.code';
    const verify = {
      kind: 'ed25519-ts',
      secret: 'public_key',
      header: 'telnyx-signature-ed25519',
      timestamp: 'telnyx-timestamp',
    } as const;
    return {
      url: '{{base}}/v2/messages',
      auth: { kind: 'bearer', value: '{{secret:api_key}}' },
      json: {
        from: '{{from}}',
        to: '{{to}}',
        text: '{{text}}',
        messaging_profile_id: '{{value:messaging_profile_id}}',
        webhook_url: '{{receipts_url}}?m={{id}}',
        use_profile_webhooks: false,
      },
      accepted: [{ status: [200, 201, 202] }],
      id: 'data.id',
      told: { parts: 'data.parts', price: 'data.cost.amount', currency: 'data.cost.currency' },
      errors: [
        { path: code, in: ['10009', '10010', '20002', '20012', '20013', '20014', '40312', '40314'], class: 'account' },
        { path: code, in: ['10011', '40011', '40318', '40333'], class: 'throttled', after: 'header:retry-after' },
        { path: code, in: ['40002', '40006', '40320'], class: 'retry' },
        { path: code, in: ['40300'], class: 'never', code: 'blocked_by_recipient' },
        { path: code, in: ['10002', '10016', '40001', '40012', '40310'], class: 'never', code: 'invalid_destination' },
        {
          path: code,
          in: ['40003', '40010', '40013', '40305', '40306', '40307', '40308', '40313', '40321', '40329', '40331'],
          class: 'elsewhere',
          code: 'sender_rejected',
        },
        { path: code, in: ['40309', '40319'], class: 'elsewhere', code: 'blocked_by_carrier' },
        { path: code, in: ['40009', '40302', '40316', '40322'], class: 'never', code: 'content_rejected' },
        { status: [429], class: 'throttled', after: 'header:retry-after' },
      ],
      receipt: {
        list: 'data',
        only: { path: 'event_type', in: ['message.finalized'] },
        id: 'payload.id',
        reference: 'query:m',
        to: 'payload.to.0.phone_number',
        state: {
          path: 'payload.to.0.status',
          map: {
            delivered: 'delivered',
            delivery_failed: 'undelivered',
            sending_failed: 'failed',
            delivery_unconfirmed: 'unknown',
            expired: 'expired',
            queued: 'pending',
            sending: 'pending',
            sent: 'pending',
          },
        },
        error: {
          path: 'payload.errors.0.code',
          map: codes({
            invalid_destination: [40001, 40012],
            content_rejected: [40002, 40009, 40015, 40322],
            sender_rejected: [40003, 40010, 40013],
            blocked_by_carrier: [40004, 40008],
            expired: [40005, 40014],
            unreachable: [40006],
            blocked_by_recipient: [40300],
          }),
        },
        verify,
      },
      inbound: {
        list: 'data',
        only: { path: 'event_type', in: ['message.received'] },
        id: 'payload.id',
        from: 'payload.from.phone_number',
        to: 'payload.to.0.phone_number',
        text: 'payload.text',
        verify,
      },
    };
  },
};
