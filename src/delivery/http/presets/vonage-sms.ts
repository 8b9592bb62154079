import { codes } from './codes.ts';
import type { Preset } from './preset.ts';

const methods = ['md5hash', 'md5', 'sha1', 'sha256', 'sha512'] as const;
const algorithms = { md5hash: 'hash-md5', md5: 'md5', sha1: 'sha1', sha256: 'sha256', sha512: 'sha512' } as const;

/** Vonage SMS API (formerly Nexmo). It answers 200 whatever happens; each part of a text has a status and an id. */
export const vonageSms: Preset = {
  title: 'Vonage SMS API',
  base: 'https://rest.nexmo.com',
  account: ['api_key'],
  fields: {
    api_key: { secret: true, help: 'API key, eight characters' },
    api_secret: { secret: true, help: 'API secret' },
    signature_secret: {
      secret: true,
      required: false,
      help: 'Signature secret, if Vonage signs callbacks for you: support switches that on',
    },
    signature_method: {
      required: false,
      choices: methods,
      help: 'How it signs, as the dashboard says; md5hash if not given',
    },
  },
  problems({ signature_secret: secret, signature_method: method }) {
    if (method === undefined || secret !== undefined) return [];
    return [{ field: 'settings.signature_secret', message: 'is required with signature_method' }];
  },
  describe({ signature_secret: secret, signature_method: method = 'md5hash' }) {
    const algorithm = algorithms[method as (typeof methods)[number]];
    const verify =
      secret === undefined
        ? ({ kind: 'token' } as const)
        : ({ kind: 'params-md5', secret: 'signature_secret', algorithm } as const);
    const status = 'messages.0.status';
    return {
      url: '{{base}}/sms/json',
      form: {
        api_key: '{{secret:api_key}}',
        api_secret: '{{secret:api_secret}}',
        from: '{{from}}',
        to: '{{to|digits}}',
        text: '{{text}}',
        type: '{{alphabet|map:gsm=text;unicode=unicode}}',
        ttl: '{{validity|clamp:20:604800|ms}}',
        'status-report-req': '1',
        callback: '{{receipts_url}}',
        'client-ref': '{{id}}',
      },
      accepted: [{ status: [200], path: status, in: ['0'] }],
      id: 'messages.*.message-id',
      told: { parts: 'message-count', price: 'messages.0.message-price', network: 'messages.0.network' },
      errors: [
        { path: status, in: ['1', '10'], class: 'throttled' },
        { path: status, in: ['5'], class: 'retry' },
        { path: status, in: ['4', '8', '9', '11', '14', '23', '32'], class: 'account' },
        { path: status, in: ['6', '33'], class: 'never', code: 'invalid_destination' },
        { path: status, in: ['7'], class: 'never', code: 'blocked_by_recipient' },
        { path: status, in: ['12'], class: 'never', code: 'content_rejected' },
        { path: status, in: ['15'], class: 'elsewhere', code: 'sender_rejected' },
        { path: status, in: ['22', '29'], class: 'elsewhere', code: 'blocked_by_carrier' },
        { path: status, in: ['2', '3'], class: 'never', code: 'blocked_by_carrier' },
      ],
      receipt: {
        id: 'messageId',
        reference: 'client-ref',
        to: 'msisdn',
        state: {
          path: 'status',
          map: {
            delivered: 'delivered',
            expired: 'expired',
            failed: 'undelivered',
            rejected: 'failed',
            unknown: 'unknown',
            accepted: 'pending',
            buffered: 'pending',
          },
        },
        error: {
          path: 'err-code',
          map: codes({
            unreachable: [2, 3, 7, 12],
            invalid_destination: [5, 11],
            blocked_by_recipient: [4, 9, 53],
            blocked_by_carrier: [6, 13, 14, 15, 54],
            content_rejected: [10, 52],
            sender_rejected: [50, 51],
            carrier_unavailable: [8, 16],
            unknown: [1, 99],
          }),
        },
        verify,
      },
      inbound: {
        id: 'messageId',
        from: 'msisdn',
        to: 'to',
        text: 'text',
        part: { reference: 'concat-ref', part: 'concat-part', total: 'concat-total' },
        verify,
      },
    };
  },
};
