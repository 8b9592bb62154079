import { codes } from './codes.ts';
import type { Preset } from './preset.ts';
import { languagesField, languagesProblem, templateLanguages } from './template-languages.ts';

const code = [{ type: 'text', text: '{{code}}' }];

/** WhatsApp by Meta's Cloud API: an approved authentication template with a button for the code. */
export const whatsappCloud: Preset = {
  title: 'WhatsApp Cloud API (Meta)',
  base: 'https://graph.facebook.com/v21.0',
  baseHelp: 'with the version of the Graph API',
  channels: ['whatsapp'],
  account: ['phone_number_id'],
  fields: {
    phone_number_id: { help: 'Id of the phone number that sends' },
    access_token: { secret: true, help: 'Token of a system user, with whatsapp_business_messaging' },
    app_secret: { secret: true, help: 'App secret: it signs the callbacks' },
    verify_token: { secret: true, help: 'A password of your own, which you also enter beside the address of receipts' },
    template_name: { help: 'The approved authentication template' },
    template_languages: languagesField,
  },
  problems: languagesProblem,
  describe(settings) {
    return {
      url: '{{base}}/{{value:phone_number_id}}/messages',
      auth: { kind: 'bearer', value: '{{secret:access_token}}' },
      languages: templateLanguages(settings),
      json: {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: '{{to|digits}}',
        type: 'template',
        template: {
          name: '{{value:template_name}}',
          language: { code: '{{language}}' },
          components: [
            { type: 'body', parameters: code },
            { type: 'button', sub_type: 'url', index: '0', parameters: code },
          ],
        },
        biz_opaque_callback_data: '{{id}}',
      },
      accepted: [{ status: [200], path: 'messaging_product', in: ['whatsapp'] }],
      id: 'messages.0.id',
      errors: [
        { path: 'error.code', in: [0, 3, 10, 33, 190, 200, 368, 131005, 131031, 131042, 133010], class: 'account' },
        { path: 'error.code', in: [4, 80007, 130429, 131048, 131056], class: 'throttled', after: 'header:retry-after' },
        { path: 'error.code', in: [131021, 131026, 131030], class: 'never', code: 'not_on_channel' },
        { path: 'error.code', in: [130472, 130497, 131049], class: 'elsewhere', code: 'blocked_by_carrier' },
        { path: 'error.code', in: [131050], class: 'never', code: 'blocked_by_recipient' },
        {
          path: 'error.code',
          in: [131008, 131009, 131047, 132000, 132001, 132005, 132007, 132012, 132015, 132016],
          class: 'elsewhere',
          code: 'content_rejected',
        },
        { path: 'error.code', in: [1, 2, 131000, 131016, 131057], class: 'retry' },
        { status: [429], class: 'throttled', after: 'header:retry-after' },
      ],
      receipt: {
        list: 'entry.*.changes.*.value.statuses',
        id: 'id',
        reference: 'biz_opaque_callback_data',
        to: 'recipient_id',
        state: {
          path: 'status',
          map: { sent: 'pending', delivered: 'delivered', read: 'delivered', failed: 'failed' },
        },
        error: {
          path: 'errors.0.code',
          map: codes({
            not_on_channel: [131021, 131026, 131030],
            blocked_by_recipient: [131050],
            blocked_by_carrier: [130472, 130497, 131048, 131049],
            content_rejected: [131047, 132000, 132001, 132005, 132007, 132012, 132015, 132016],
            carrier_unavailable: [131000, 131016, 131053],
          }),
        },
        verify: {
          kind: 'hmac',
          secret: 'app_secret',
          header: 'x-hub-signature-256',
          signed: '{{body}}',
          algorithm: 'sha256',
          encoding: 'hex',
        },
        handshake: { query: 'hub.verify_token', secret: 'verify_token', answer: 'hub.challenge' },
      },
    };
  },
};
