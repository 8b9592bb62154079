// Meta's Cloud API as documented: https://developers.facebook.com/docs/whatsapp/cloud-api/guides/send-message-templates/auth-otp-template-messages,
// …/whatsapp/cloud-api/webhooks and …/graph-api/webhooks/getting-started
import { createHmac } from 'node:crypto';
import { jsonCall, type ProviderCall } from '../call.ts';
import type { GotRequest } from '../provider.ts';
import { type CodeProvider, digitsForm, nameProblems, unless } from './code-provider.ts';

const phone = '105954558954427';
const token = 'EAAJB-cloud-Zq7';
const appSecret = 'cloud-app-secret-Zq7';
export const verifyToken = 'meaty-am-hock-Zq7';
let given = 0;

interface Parameter {
  type: string;
  text: string;
}
interface TemplateMessage {
  messaging_product: string;
  recipient_type: string;
  to: string;
  type: string;
  template: {
    name: string;
    language: { code: string };
    components: { type: string; sub_type?: string; index?: string; parameters: Parameter[] }[];
  };
  biz_opaque_callback_data: string;
}
const messageOf = ({ body }: GotRequest) => JSON.parse(body) as TemplateMessage;

/** Meta signs what it sends, in which characters outside ASCII are escaped. */
function signed(url: string, value: object): ProviderCall {
  const call = jsonCall(url, value);
  const body = call.body?.replaceAll(
    /[^\x20-\x7e]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const signature = createHmac('sha256', appSecret)
    .update(body ?? '')
    .digest('hex');
  return { ...call, body, headers: { ...call.headers, 'x-hub-signature-256': `sha256=${signature}` } };
}

/** Reports as Meta puts them together. */
export function cloudReports(url: string, statuses: object[][]): ProviderCall {
  const metadata = { display_phone_number: '15550783881', phone_number_id: phone };
  const contacts = [{ profile: { name: 'Zoë' }, wa_id: '447700900123' }];
  const about = { messaging_product: 'whatsapp', metadata, contacts };
  const changes = statuses.map((each) => ({ value: { ...about, statuses: each }, field: 'messages' }));
  return signed(url, { object: 'whatsapp_business_account', entry: [{ id: '102290129340398', changes }] });
}

export function cloudStatus({ id, ours, to }: { id: string; ours: string; to: string }, state: string, error?: string) {
  const about = { title: 'as documented', message: 'as documented', error_data: { details: 'as documented' } };
  return {
    id,
    status: state,
    timestamp: '1750263773',
    recipient_id: to,
    biz_opaque_callback_data: ours,
    ...(state !== 'failed' && { pricing: { billable: true, pricing_model: 'PMP', category: 'authentication' } }),
    ...(error !== undefined && { errors: [{ code: Number(error), ...about }] }),
  };
}

/** A message from a person, which comes to the same address. */
export const cloudInbound = (url: string) =>
  signed(url, {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '102290129340398',
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '15550783881', phone_number_id: phone },
              messages: [
                { from: '447700900999', id: 'wamid.in', timestamp: '1', type: 'text', text: { body: 'STOP' } },
              ],
            },
          },
        ],
      },
    ],
  });

const refusal = (status: number, code: number, headers = {}) => ({
  status,
  headers,
  body: {
    error: {
      message: `(#${code}) as documented`,
      type: 'OAuthException',
      code,
      error_data: { messaging_product: 'whatsapp', details: 'as documented' },
      fbtrace_id: 'Az8or2yhqkZfEZ-_4Qn_Bam',
    },
  },
});

export const whatsappCloud: CodeProvider = {
  preset: 'whatsapp-cloud',
  channel: 'whatsapp',
  settings: {
    phone_number_id: phone,
    access_token: token,
    app_secret: appSecret,
    verify_token: verifyToken,
    template_name: 'verification_code',
    template_languages: 'en_US,de,pt_BR,zh_CN',
  },
  wrong: { access_token: 'another' },
  secrets: [token, appSecret, verifyToken],
  problemsOf(request) {
    const message = messageOf(request);
    const { name, language, components } = message.template;
    const [body, button] = components;
    const parameters = [body, button].flatMap((component) => component?.parameters ?? []);
    return [
      ...unless(request.method === 'POST' && request.path === `/${phone}/messages`, request.path),
      ...unless(request.headers['content-type'] === 'application/json', 'it is JSON'),
      ...nameProblems(message, {
        needed: ['messaging_product', 'to', 'type', 'template'],
        allowed: ['recipient_type', 'biz_opaque_callback_data'],
      }),
      ...nameProblems(message.template, { needed: ['name', 'language', 'components'] }),
      ...nameProblems(language, { needed: ['code'] }),
      ...nameProblems(body ?? {}, { needed: ['type', 'parameters'] }),
      ...nameProblems(button ?? {}, { needed: ['type', 'sub_type', 'index', 'parameters'] }),
      ...parameters.flatMap((each) => nameProblems(each, { needed: ['type', 'text'] })),
      ...unless(message.messaging_product === 'whatsapp' && message.type === 'template', 'a template of WhatsApp'),
      ...unless(message.recipient_type === 'individual' && digitsForm.test(message.to), `to ${message.to}`),
      ...unless(name === 'verification_code', name),
      ...unless(['en_US', 'de', 'pt_BR', 'zh_CN'].includes(language.code), `not approved in ${language.code}`),
      ...unless(components.length === 2 && body?.type === 'body', 'components'),
      ...unless(button?.type === 'button' && button.sub_type === 'url' && button.index === '0', 'button'),
      ...unless(parameters.length === 2 && parameters.every(({ type }) => type === 'text'), 'parameters'),
      ...unless(
        new Set(parameters.map(({ text }) => text)).size === 1,
        'the code stands in the text and in the button',
      ),
      ...unless(/^\d{4,15}$/.test(parameters[0]?.text ?? ''), `code ${parameters[0]?.text}`),
      ...unless(message.biz_opaque_callback_data.length <= 512, 'biz_opaque_callback_data'),
    ];
  },
  answer(request) {
    if (request.headers.authorization !== `Bearer ${token}`) return refusal(401, 190);
    const { to } = messageOf(request);
    const id = `wamid.HBgLNDQ3NzAwOTAw${String(++given).padStart(8, '0')}==`;
    const messages = [{ id, message_status: 'accepted' }];
    return { status: 200, body: { messaging_product: 'whatsapp', contacts: [{ input: to, wa_id: to }], messages } };
  },
  taken(request, answer, language) {
    const { to, template, biz_opaque_callback_data: ours } = messageOf(request);
    const wanted = { de: 'de', pt: 'pt_BR', 'zh-Hans': 'zh_CN' }[language] ?? 'en_US';
    if (template.language.code !== wanted) throw new Error(`the template is in ${template.language.code}`);
    const [made] = (answer.body as { messages: { id: string }[] }).messages;
    return {
      id: made?.id ?? '',
      ours,
      to,
      code: template.components[0]?.parameters[0]?.text ?? '',
      callback: undefined,
    };
  },
  refusals: [
    { what: '131026, no WhatsApp', answer: refusal(400, 131026), error: 'not_on_channel' },
    { what: '132001, no such template', answer: refusal(404, 132001), error: 'content_rejected' },
    { what: '130497, a country that is not allowed', answer: refusal(403, 130497), error: 'blocked_by_carrier' },
  ],
  throttled: refusal(429, 130429, { 'Retry-After': '1' }),
  receipt: (code, { url, state, error }) => cloudReports(url, [[cloudStatus(code, state, error)]]),
  pending: ['sent'],
  arrived: ['delivered', 'read'],
  failed: [
    { state: 'failed', error: '131026', status: 'failed', code: 'not_on_channel' },
    { state: 'failed', error: '132015', status: 'failed', code: 'content_rejected' },
    { state: 'failed', error: '131049', status: 'failed', code: 'blocked_by_carrier' },
  ],
  forgeries: {
    'no signature': (call) => ({ ...call, headers: { 'content-type': 'application/json' } }),
    'the signature of SHA-1 alone': ({ headers: { 'x-hub-signature-256': _, ...headers }, ...call }) => ({
      ...call,
      headers: {
        ...headers,
        'x-hub-signature': `sha1=${createHmac('sha1', appSecret)
          .update(call.body ?? '')
          .digest('hex')}`,
      },
    }),
    'a state turned': (call) => ({ ...call, body: call.body?.replace('"delivered"', '"failed"') }),
    'the same body, written otherwise': (call) => ({ ...call, body: JSON.stringify(JSON.parse(call.body ?? '')) }),
    'a GET': (call) => ({ ...call, method: 'GET', body: undefined }),
  },
};
