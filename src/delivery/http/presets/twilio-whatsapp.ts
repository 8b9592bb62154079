import { codes } from './codes.ts';
import type { Preset } from './preset.ts';
import { twilio } from './twilio.ts';

/** WhatsApp by Twilio: an approved authentication template of its Content API, with the code as variable 1. */
export const twilioWhatsapp: Preset = {
  title: 'Twilio WhatsApp',
  base: 'https://api.twilio.com',
  channels: ['whatsapp'],
  account: ['account_sid'],
  fields: {
    account_sid: { help: 'Account SID, begins with AC' },
    auth_token: { secret: true, help: 'Auth token: it signs the callbacks, and the requests' },
    whatsapp_number: { help: 'The WhatsApp sender of the account, like +15005550006' },
    content_sids: {
      longest: 4096,
      help: 'The approved template in each language, the default first: en=HX…,de=HX… (Twilio has one SID for each)',
    },
  },
  problems({ content_sids: given }) {
    if (typeof given === 'string' && areSids(given.split(',', mostSids + 1))) return [];
    return [{ field: 'settings.content_sids', message: 'must be like en=HX…,de=HX…: a language and its Content SID' }];
  },
  describe({ content_sids: given }) {
    const { errors = [], receipt } = twilio.describe({});
    if (receipt === undefined) throw new Error('texts of Twilio have receipts');
    return {
      url: '{{base}}/2010-04-01/Accounts/{{value:account_sid}}/Messages.json',
      auth: { kind: 'basic', user: '{{value:account_sid}}', password: '{{secret:auth_token}}' },
      languages: sidsOf(given),
      form: {
        To: 'whatsapp:{{to}}',
        From: 'whatsapp:{{value:whatsapp_number|plus}}',
        ContentSid: '{{language}}',
        ContentVariables: '{"1":"{{code}}"}',
        StatusCallback: '{{receipts_url}}?m={{id}}',
      },
      accepted: [{ status: [200, 201] }],
      id: 'sid',
      told: { price: 'price', currency: 'price_unit' },
      errors: [
        { path: 'code', in: [63003, 63024], class: 'never', code: 'not_on_channel' },
        { path: 'code', in: [63007], class: 'elsewhere', code: 'sender_rejected' },
        { path: 'code', in: [21655, 21656, 63016, 63027, 63028], class: 'elsewhere', code: 'content_rejected' },
        { path: 'code', in: [63018], class: 'throttled', after: 'header:retry-after' },
        ...errors,
      ],
      receipt: {
        ...receipt,
        error: {
          path: 'ErrorCode',
          map: {
            ...receipt.error?.map,
            ...codes({
              not_on_channel: [63003, 63024],
              blocked_by_recipient: [63014],
              sender_rejected: [63007],
              content_rejected: [63013, 63016, 63021, 63027, 63028],
              blocked_by_carrier: [63018, 63032, 63049],
              carrier_unavailable: [63012, 63020],
            }),
          },
        },
      },
    };
  },
};

const oneSid = /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?=HX[0-9a-fA-F]{32}$/;
const mostSids = 61;

function areSids(all: string[]): boolean {
  return all.length <= mostSids && all.every((each) => oneSid.test(each));
}

/** The Content SID for each of our languages. If none is for English, the first one is used for `en`. */
function sidsOf(given: unknown): Record<string, string> {
  const pairs = (typeof given === 'string' ? given : '').split(',').map((pair) => pair.split('=', 2));
  return { en: pairs[0]?.[1] ?? '', ...Object.fromEntries(pairs) };
}
