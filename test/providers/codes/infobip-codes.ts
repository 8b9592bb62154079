// Infobip's voice messages and WhatsApp templates as documented: https://www.infobip.com/docs/api/channels/voice and
// …/whatsapp. Languages of speech are those of its Go client. Its callbacks are not signed.
import { jsonCall } from '../call.ts';
import type { DoubleAnswer, GotRequest } from '../provider.ts';
import { type CodeProvider, callbackForm, digitsForm, heard, nameProblems, unless } from './code-provider.ts';

const key = 'infobip-codes-Zq7';
const caller = '442032864231';
const languages =
  'ar bn bg ca zh-cn zh-tw hr cs da nl en en-au en-gb en-ca en-in en-ie en-gb-wls epo fil-ph fi fr fr-ca fr-ch de de-at de-ch el ' +
  'gu he hi hu is id it ja kn ko ms ml no pl pt-pt pt-br ro ru sk sl es es-gl es-mx sv ta te th tr uk vi wls ar-ma ur-pk';

interface VoiceMessage {
  from: string;
  destinations: { to: string; messageId: string }[];
  text: string;
  language: string;
  ringTimeout: number;
  validityPeriod: number;
  notifyUrl: string;
  notifyContentType: string;
  notifyContentVersion: number;
}
interface TemplateMessage {
  from: string;
  to: string;
  messageId: string;
  content: {
    templateName: string;
    templateData: { body: { placeholders: string[] }; buttons: { type: string; parameter: string }[] };
    language: string;
  };
  notifyUrl: string;
}
const messagesOf = <Message>({ body }: GotRequest) => (JSON.parse(body) as { messages: Message[] }).messages;

const commonProblems = (request: GotRequest, path: string) => [
  ...unless(request.method === 'POST' && request.path === path, request.path),
  ...unless(request.headers['content-type'] === 'application/json', 'it is JSON'),
  ...nameProblems(JSON.parse(request.body) as object, { needed: ['messages'] }),
  ...unless(messagesOf(request).length === 1, 'one message'),
];

function answered({ headers }: GotRequest, to: string, messageId: string): DoubleAnswer {
  const wrong = { requestError: { serviceException: { messageId: 'UNAUTHORIZED', text: 'Invalid login details' } } };
  if (headers.authorization !== `App ${key}`) return { status: 401, body: wrong };
  const status = { groupId: 1, groupName: 'PENDING', id: 26, name: 'PENDING_ACCEPTED', description: 'as documented' };
  return { status: 200, body: { bulkId: 'b1', messages: [{ to, status, messageId }] } };
}

const rejected = (id: number, name: string) => ({
  status: 200,
  body: {
    bulkId: 'b1',
    messages: [{ to: '447700900123', messageId: 'm1', status: { groupId: 5, groupName: 'REJECTED', id, name } }],
  },
});
const refusals = [
  { what: 'a destination', answer: rejected(52, 'REJECTED_INVALID_DESTINATION'), error: 'invalid_destination' },
  { what: 'a sender', answer: rejected(13, 'REJECTED_SENDER'), error: 'sender_rejected' },
  { what: 'any other rejection', answer: rejected(999, 'REJECTED_NEW'), error: 'blocked_by_carrier' },
];
const throttled = {
  status: 429,
  headers: { 'Retry-After': '1' },
  body: { errorCode: 'E429', description: 'Too many' },
};

const reported = (state: string) => ({ groupId: 3, groupName: state, id: 5, name: 'AS_DOCUMENTED', description: '' });
const times = { sentAt: '2027-01-01T12:00:00.000+0000', doneAt: '2027-01-01T12:00:21.000+0000' };

export const infobipVoice: CodeProvider = {
  preset: 'infobip-voice',
  channel: 'voice',
  settings: { api_key: key, caller_id: caller },
  wrong: { api_key: 'another' },
  secrets: [key],
  problemsOf(request) {
    const [message] = messagesOf<VoiceMessage>(request);
    const [destination] = message?.destinations ?? [];
    if (message === undefined || destination === undefined) return ['no message'];
    return [
      ...commonProblems(request, '/tts/3/advanced'),
      ...nameProblems(message, {
        needed: ['from', 'destinations', 'text', 'language'],
        allowed: ['ringTimeout', 'validityPeriod', 'notifyUrl', 'notifyContentType', 'notifyContentVersion'],
      }),
      ...nameProblems(destination, { needed: ['to', 'messageId'] }),
      ...unless(message.from === caller, `from ${message.from}`),
      ...unless(digitsForm.test(destination.to), `to ${destination.to}`),
      ...unless(message.text.length <= 1400 && !/[<>]/.test(message.text), `text ${message.text}`),
      ...unless(languages.split(' ').includes(message.language), `no voice for ${message.language}`),
      ...unless(Number.isInteger(message.ringTimeout) && message.ringTimeout <= 45, `ringTimeout`),
      ...unless(Number.isInteger(message.validityPeriod) && message.validityPeriod <= 2880, 'validityPeriod'),
      ...unless(callbackForm.test(message.notifyUrl), `notifyUrl ${message.notifyUrl}`),
      ...unless(message.notifyContentType === 'application/json', 'notifyContentType'),
      ...unless(message.notifyContentVersion === 2, 'notifyContentVersion'),
    ];
  },
  answer(request) {
    const [destination] = messagesOf<VoiceMessage>(request)[0]?.destinations ?? [];
    return answered(request, destination?.to ?? '', destination?.messageId ?? '');
  },
  taken(request, _, language) {
    const [message] = messagesOf<VoiceMessage>(request);
    const { to = '', messageId = '' } = message?.destinations[0] ?? {};
    return {
      id: messageId,
      ours: messageId,
      to,
      code: heard(message?.text ?? '', language),
      callback: message?.notifyUrl,
    };
  },
  refusals,
  throttled,
  receipt: ({ id, to }, { url, state, error = 'NO_ERROR' }) =>
    jsonCall(url, {
      results: [
        {
          ...{ bulkId: 'b1', messageId: id, from: caller, to, ...times, mccMnc: '23410' },
          voiceCall: { feature: 'Text-to-Speech', startTime: times.sentAt, duration: 14, answerTime: times.sentAt },
          price: { pricePerSecond: 0.01, currency: 'EUR' },
          status: reported(state),
          error: { groupId: 0, groupName: 'OK', id: 0, name: error, description: '', permanent: true },
        },
      ],
    }),
  pending: ['PENDING', 'ACCEPTED'],
  arrived: ['DELIVERED'],
  failed: [
    { state: 'UNDELIVERABLE', error: 'EC_VOICE_NO_ANSWER', status: 'undelivered', code: 'no_answer' },
    { state: 'EXPIRED', error: 'EC_VOICE_NO_ANSWER', status: 'undelivered', code: 'no_answer' },
    { state: 'UNDELIVERABLE', error: 'EC_VOICE_USER_BUSY', status: 'undelivered', code: 'busy' },
    { state: 'REJECTED', error: 'EC_VOICE_ERROR_FORBIDDEN', status: 'failed', code: 'blocked_by_carrier' },
  ],
  forgeries: {},
};

export const infobipWhatsapp: CodeProvider = {
  preset: 'infobip-whatsapp',
  channel: 'whatsapp',
  settings: { api_key: key, whatsapp_number: caller, template_name: 'login_code', template_languages: 'en,de,pt_BR' },
  wrong: { api_key: 'another' },
  secrets: [key],
  problemsOf(request) {
    const [message] = messagesOf<TemplateMessage>(request);
    if (message === undefined) return ['no message'];
    const { content } = message;
    const { body, buttons } = content.templateData;
    return [
      ...commonProblems(request, '/whatsapp/1/message/template'),
      ...nameProblems(message, { needed: ['from', 'to', 'content'], allowed: ['messageId', 'notifyUrl'] }),
      ...nameProblems(content, { needed: ['templateName', 'templateData', 'language'] }),
      ...nameProblems(content.templateData, { needed: ['body', 'buttons'] }),
      ...nameProblems(buttons[0] ?? {}, { needed: ['type', 'parameter'] }),
      ...unless(message.from === caller && digitsForm.test(message.to), 'from and to'),
      ...unless(message.messageId.length <= 100, 'messageId'),
      ...unless(content.templateName === 'login_code', content.templateName),
      ...unless(['en', 'de', 'pt_BR'].includes(content.language), `not approved in ${content.language}`),
      ...unless(body.placeholders.length === 1 && buttons.length === 1 && buttons[0]?.type === 'URL', 'template data'),
      ...unless(body.placeholders[0] === buttons[0]?.parameter, 'the code stands in the text and in the button'),
      ...unless(/^\d{4,15}$/.test(body.placeholders[0] ?? ''), `code ${body.placeholders[0]}`),
      ...unless(callbackForm.test(message.notifyUrl), `notifyUrl ${message.notifyUrl}`),
    ];
  },
  answer(request) {
    const { to = '', messageId = '' } = messagesOf<TemplateMessage>(request)[0] ?? {};
    return answered(request, to, messageId);
  },
  taken(request) {
    const { to = '', messageId = '', content, notifyUrl } = messagesOf<TemplateMessage>(request)[0] ?? {};
    const code = content?.templateData.body.placeholders[0] ?? '';
    return { id: messageId, ours: messageId, to, code, callback: notifyUrl };
  },
  refusals,
  throttled,
  receipt: ({ id, to }, { url, state, error = '0' }) =>
    jsonCall(url, {
      results: [
        {
          ...{ bulkId: 'b1', messageId: id, to, channel: 'WHATSAPP', messageCount: 1, ...times },
          price: { pricePerMessage: 0.01, currency: 'EUR' },
          // What is seen has a time, and no status.
          ...(state === 'SEEN' ? { seenAt: times.doneAt } : { status: reported(state) }),
          error: { groupId: 0, groupName: 'OK', id: Number(error), name: 'AS_DOCUMENTED', permanent: false },
        },
      ],
    }),
  pending: ['PENDING', 'ACCEPTED'],
  arrived: ['DELIVERED', 'SEEN'],
  failed: [
    { state: 'UNDELIVERABLE', error: '1', status: 'undelivered', code: 'not_on_channel' },
    { state: 'UNDELIVERABLE', error: '7003', status: 'undelivered', code: 'not_on_channel' },
    { state: 'REJECTED', error: '9', status: 'failed', code: 'blocked_by_carrier' },
  ],
  forgeries: {},
};
