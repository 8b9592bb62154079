import { readRsaKey } from '../signed-token.ts';
import type { Preset } from './preset.ts';
import { vonageVoices } from './voices.ts';

/** Vonage Voice API: a call whose words are in the request, signed by the key of an application. */
export const vonageVoice: Preset = {
  title: 'Vonage Voice API',
  base: 'https://api.nexmo.com',
  channels: ['voice'],
  account: ['application_id'],
  fields: {
    application_id: { help: 'Id of an application that can make calls' },
    private_key: { secret: true, longest: 8192, help: 'The private key of the application, in PEM' },
    caller_id: { help: 'The Vonage number that calls, like 442079460000' },
    signature_secret: { secret: true, help: 'Signature secret of the account: it signs the callbacks' },
  },
  problems({ private_key: key }) {
    if (readRsaKey(String(key)) !== undefined) return [];
    return [{ field: 'settings.private_key', message: 'must be an RSA key in PEM, of at least 2048 bits' }];
  },
  describe() {
    return {
      url: '{{base}}/v1/calls',
      auth: {
        kind: 'jwt-rs256',
        name: 'application_id',
        value: '{{value:application_id}}',
        password: '{{secret:private_key}}',
      },
      languages: { ...vonageVoices },
      json: {
        to: [{ type: 'phone', number: '{{to|digits}}' }],
        from: { type: 'phone', number: '{{value:caller_id|digits}}' },
        ncco: [{ action: 'talk', text: '<speak>{{ssml}}</speak>', language: '{{language}}' }],
        ringing_timer: 30,
        event_url: ['{{receipts_url}}?m={{id}}'],
        event_method: 'POST',
      },
      accepted: [{ status: [200, 201] }],
      id: 'uuid',
      errors: [
        { status: [401, 403], class: 'account' },
        { status: [429], class: 'throttled', after: 'header:retry-after' },
        { status: [400], class: 'never', code: 'blocked_by_carrier' },
      ],
      receipt: {
        id: 'uuid',
        reference: 'query:m',
        to: 'to',
        state: {
          path: 'status',
          map: {
            answered: 'delivered',
            completed: 'delivered',
            unanswered: 'undelivered',
            timeout: 'undelivered',
            busy: 'undelivered',
            rejected: 'undelivered',
            failed: 'undelivered',
            cancelled: 'failed',
            started: 'pending',
            ringing: 'pending',
          },
        },
        error: {
          path: 'status',
          map: {
            unanswered: 'no_answer',
            timeout: 'no_answer',
            busy: 'busy',
            rejected: 'busy',
            failed: 'unreachable',
          },
        },
        verify: { kind: 'jwt-hs256', secret: 'signature_secret' },
      },
    };
  },
};
