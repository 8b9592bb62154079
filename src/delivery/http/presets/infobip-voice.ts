import { codes } from './codes.ts';
import { infobip } from './infobip.ts';
import type { Preset } from './preset.ts';
import { infobipVoices } from './voices.ts';

/** Infobip Voice messages, API version 3: text to speech. Callbacks are not signed. */
export const infobipVoice: Preset = {
  title: 'Infobip Voice',
  baseHelp: infobip.baseHelp ?? '',
  channels: ['voice'],
  account: [],
  fields: {
    api_key: { secret: true, help: 'API key' },
    caller_id: { help: 'The number that calls, like 442032864231' },
  },
  describe() {
    const { accepted, errors = [] } = infobip.describe({});
    return {
      url: '{{base}}/tts/3/advanced',
      auth: { kind: 'header', name: 'Authorization', value: 'App {{secret:api_key}}' },
      languages: { ...infobipVoices },
      json: {
        messages: [
          {
            from: '{{value:caller_id|digits}}',
            destinations: [{ to: '{{to|digits}}', messageId: '{{id}}' }],
            // Each comma of the text is a pause of half a second.
            text: '{{text}}',
            language: '{{language}}',
            ringTimeout: 30,
            validityPeriod: '{{validity|minutes|clamp:1:2880|int}}',
            notifyUrl: '{{receipts_url}}',
            notifyContentType: 'application/json',
            notifyContentVersion: 2,
          },
        ],
      },
      accepted,
      id: 'messages.0.messageId',
      errors,
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
            // The person did not answer before the message expired.
            EXPIRED: 'undelivered',
            REJECTED: 'failed',
            PENDING: 'pending',
            ACCEPTED: 'pending',
          },
        },
        // The numbers of these errors changed in 2024; their names say the same.
        error: {
          path: 'error.name',
          map: codes({
            no_answer: ['EC_VOICE_NO_ANSWER', 'NO_ANSWER'],
            busy: ['EC_VOICE_USER_BUSY', 'BUSY'],
            invalid_destination: [
              'EC_VOICE_ERROR_DESTINATION_NOT_FOUND',
              'DESTINATION_NOT_FOUND',
              'INVALID_DESTINATION',
            ],
            unreachable: [
              'EC_VOICE_ERROR_TEMPORARILY_NOT_AVAILABLE',
              'EC_VOICE_ERROR_REQUEST_TIMEOUT',
              'REQUEST_TIMEOUT',
            ],
            blocked_by_carrier: ['EC_VOICE_ERROR_FORBIDDEN', 'FORBIDDEN'],
          }),
        },
        verify: { kind: 'token' },
      },
    };
  },
};
