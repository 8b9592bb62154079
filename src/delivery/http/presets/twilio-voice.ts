import type { Preset } from './preset.ts';
import { twilio } from './twilio.ts';
import { twilioVoices } from './voices.ts';

/** Twilio Programmable Voice, API 2010-04-01: a call whose words are in the request. */
export const twilioVoice: Preset = {
  title: 'Twilio Voice',
  base: 'https://api.twilio.com',
  channels: ['voice'],
  account: ['account_sid'],
  fields: {
    account_sid: { help: 'Account SID, begins with AC' },
    auth_token: { secret: true, help: 'Auth token: it signs the callbacks, and the requests' },
    caller_id: { help: 'The number that calls: one of the account, or one that it has verified, like +15005550006' },
  },
  describe() {
    const { errors = [] } = twilio.describe({});
    return {
      url: '{{base}}/2010-04-01/Accounts/{{value:account_sid}}/Calls.json',
      auth: { kind: 'basic', user: '{{value:account_sid}}', password: '{{secret:auth_token}}' },
      languages: { ...twilioVoices },
      form: {
        To: '{{to}}',
        From: '{{value:caller_id|plus}}',
        Twiml: '{{twiml}}',
        Timeout: '30',
        // Our id in the callback's URL, which is signed.
        StatusCallback: '{{receipts_url}}?m={{id}}',
        StatusCallbackEvent: ['answered', 'completed'],
        StatusCallbackMethod: 'POST',
      },
      accepted: [{ status: [200, 201] }],
      id: 'sid',
      errors: [
        { path: 'code', in: [21215, 21216, 21219], class: 'elsewhere', code: 'blocked_by_carrier' },
        { path: 'code', in: [13224, 21201, 21217], class: 'never', code: 'invalid_destination' },
        { path: 'code', in: [21210, 21212, 21213], class: 'elsewhere', code: 'sender_rejected' },
        ...errors,
      ],
      receipt: {
        id: 'CallSid',
        reference: 'query:m',
        to: 'To',
        state: {
          path: 'CallStatus',
          map: {
            'in-progress': 'delivered',
            completed: 'delivered',
            'no-answer': 'undelivered',
            busy: 'undelivered',
            failed: 'undelivered',
            canceled: 'failed',
            queued: 'pending',
            initiated: 'pending',
            ringing: 'pending',
          },
        },
        error: { path: 'CallStatus', map: { 'no-answer': 'no_answer', busy: 'busy', failed: 'unreachable' } },
        verify: { kind: 'twilio-sha1', secret: 'auth_token' },
      },
    };
  },
};
