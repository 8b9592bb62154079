import { codes } from './codes.ts';
import { infobip } from './infobip.ts';
import type { Preset } from './preset.ts';
import { languagesField, languagesProblem, templateLanguages } from './template-languages.ts';

/** WhatsApp by Infobip: an approved authentication template with a button for the code. Callbacks are not signed. */
export const infobipWhatsapp: Preset = {
  title: 'Infobip WhatsApp',
  baseHelp: infobip.baseHelp ?? '',
  channels: ['whatsapp'],
  account: [],
  fields: {
    api_key: { secret: true, help: 'API key' },
    whatsapp_number: { help: 'The registered WhatsApp sender, like 442032864231' },
    template_name: { help: 'The approved authentication template' },
    template_languages: languagesField,
  },
  problems: languagesProblem,
  describe(settings) {
    const { accepted, errors = [], receipt } = infobip.describe({});
    if (receipt === undefined) throw new Error('texts of Infobip have receipts');
    return {
      url: '{{base}}/whatsapp/1/message/template',
      auth: { kind: 'header', name: 'Authorization', value: 'App {{secret:api_key}}' },
      languages: templateLanguages(settings),
      json: {
        messages: [
          {
            from: '{{value:whatsapp_number|digits}}',
            to: '{{to|digits}}',
            messageId: '{{id}}',
            content: {
              templateName: '{{value:template_name}}',
              templateData: {
                body: { placeholders: ['{{code}}'] },
                buttons: [{ type: 'URL', parameter: '{{code}}' }],
              },
              language: '{{language}}',
            },
            notifyUrl: '{{receipts_url}}',
          },
        ],
      },
      accepted,
      id: 'messages.0.messageId',
      errors,
      receipt: {
        ...receipt,
        error: {
          path: 'error.id',
          map: codes({
            not_on_channel: [1, 7002, 7003],
            content_rejected: [7026, 7032],
            blocked_by_carrier: [9, 12, 13],
          }),
        },
      },
    };
  },
};
