import { codes } from './codes.ts';
import type { Preset } from './preset.ts';

/** Infobip SMS API, version 3. Each account has a base URL of its own. Callbacks are not signed. */
export const infobip: Preset = {
  title: 'Infobip',
  baseHelp: 'the base URL of your account, like https://xxxxx.api.infobip.com',
  account: [],
  fields: { api_key: { secret: true, help: 'API key' } },
  describe() {
    const group = 'messages.0.status.groupId';
    const id = 'messages.0.status.id';
    const verify = { kind: 'token' } as const;
    return {
      url: '{{base}}/sms/3/messages',
      auth: { kind: 'header', name: 'Authorization', value: 'App {{secret:api_key}}' },
      json: {
        messages: [
          {
            sender: '{{from}}',
            // Our own id: Infobip recognizes a text that is sent again after a lost answer.
            destinations: [{ to: '{{to|digits}}', messageId: '{{id}}' }],
            content: { text: '{{text}}' },
            options: {
              validityPeriod: { amount: '{{validity|minutes|clamp:1:2880|int}}', timeUnit: 'MINUTES' },
              regional: { indiaDlt: { contentTemplateId: '{{template_id}}' } },
            },
            webhooks: { delivery: { url: '{{receipts_url}}' }, contentType: 'application/json' },
          },
        ],
      },
      // 23: this id was sent before, so Infobip has the text.
      accepted: [
        { status: [200], path: group, in: [1, 3] },
        { status: [200], path: id, in: [23] },
      ],
      id: 'messages.0.messageId',
      told: { parts: 'messages.0.details.messageCount' },
      errors: [
        { path: id, in: [12, 17], class: 'account' },
        { path: id, in: [20], class: 'throttled' },
        { path: id, in: [21], class: 'retry' },
        { path: id, in: [10], class: 'never', code: 'blocked_by_recipient' },
        { path: id, in: [11, 13], class: 'elsewhere', code: 'sender_rejected' },
        { path: id, in: [14, 51, 52], class: 'never', code: 'invalid_destination' },
        { path: id, in: [6, 8, 18, 19], class: 'elsewhere', code: 'blocked_by_carrier' },
        { path: id, in: [24, 25], class: 'never', code: 'content_rejected' },
        { path: group, in: [2, 4, 5], class: 'never', code: 'blocked_by_carrier' },
        { status: [429], class: 'throttled', after: 'header:retry-after' },
      ],
      receipt: {
        list: 'results',
        id: 'messageId',
        reference: 'messageId',
        to: 'to',
        state: {
          path: 'status.groupName',
          map: {
            DELIVERED: 'delivered',
            UNDELIVERABLE: 'undelivered',
            EXPIRED: 'expired',
            REJECTED: 'failed',
            PENDING: 'pending',
            ACCEPTED: 'pending',
          },
        },
        error: {
          path: 'error.id',
          map: codes({
            invalid_destination: [1, 5, 10, 11, 20, 21],
            unreachable: [6, 8, 27, 28, 31, 32, 33, 256, 257, 258],
            blocked_by_carrier: [9, 12, 13],
            content_rejected: [71],
            carrier_unavailable: [34, 51, 260],
            unknown: [35, 36, 255],
          }),
        },
        verify,
      },
      inbound: { list: 'results', id: 'messageId', from: 'from', to: 'to', text: 'text', verify },
    };
  },
};
