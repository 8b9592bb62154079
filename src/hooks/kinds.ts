// Tests: test/hooks/servers.test.ts
import type { HookKind, HookPointers } from './hook.ts';

/** How a server proves that a call is its own. */
export type ProofForm = 'standard-webhooks' | 'zitadel' | 'bearer';

/** The form of an answer. */
export type AnswerForm = 'json' | 'supabase' | 'text';

/** A setting that the developer pastes at the identity server. */
export interface PastedSetting {
  name: string;
  value: string;
}

export interface KindRules {
  proof: ProofForm;
  answer: AnswerForm;
  /**
   * Where the server's payload has each field: the first pointer that leads to a value counts. Empty if each hook must set
   * its own.
   */
  pointers: { [Name in keyof HookPointers]: readonly string[] };
  /** The settings to paste. `secret` is null once it can no longer be shown. */
  settings(url: string, secret: string | null): PastedSetting[];
}

const shownSecret = (secret: string | null) => secret ?? '(the secret that was shown once)';

/** What each server sends, as its source says. */
export const kindRules: Record<HookKind, KindRules> = {
  // internal/hooks/v0hooks of supabase/auth: a phone factor has its number in sms.
  supabase: {
    proof: 'standard-webhooks',
    answer: 'supabase',
    pointers: { to: ['/sms/phone', '/user/phone'], code: ['/sms/otp'], ip: ['/metadata/ip_address'] },
    settings: (url, secret) => [
      { name: 'GOTRUE_HOOK_SEND_SMS_ENABLED', value: 'true' },
      { name: 'GOTRUE_HOOK_SEND_SMS_URI', value: url },
      { name: 'GOTRUE_HOOK_SEND_SMS_SECRETS', value: shownSecret(secret) },
    ],
  },
  // packages/connectors/connector-http-sms of logto-io/logto.
  logto: {
    proof: 'bearer',
    answer: 'json',
    pointers: { to: ['/to'], code: ['/payload/code'], locale: ['/payload/locale'], ip: ['/ip'] },
    settings: (url, secret) => [
      { name: 'endpoint', value: url },
      { name: 'authorization', value: `Bearer ${shownSecret(secret)}` },
    ],
  },
  // internal/notification of zitadel/zitadel, which writes the first letter of an argument small: `OTP` is `oTP`. It makes
  // the signing key itself.
  zitadel: {
    proof: 'zitadel',
    answer: 'json',
    pointers: {
      to: ['/contextInfo/recipientPhoneNumber'],
      code: ['/args/oTP', '/args/code'],
      text: ['/templateData/text'],
    },
    settings: (url) => [{ name: 'endpoint', value: url }],
  },
  // authentik/stages/authenticator_sms of goauthentik/authentik: the code is the whole body.
  authentik: {
    proof: 'bearer',
    answer: 'text',
    pointers: { to: ['/To'], code: ['/Body'], text: ['/Message'] },
    settings: (url, secret) => [
      { name: 'provider', value: 'generic' },
      { name: 'account_sid', value: url },
      { name: 'auth_type', value: 'bearer' },
      { name: 'auth', value: shownSecret(secret) },
    ],
  },
  generic: { proof: 'bearer', answer: 'json', pointers: {}, settings: bearerSettings },
  // courier/template/sms of ory/kratos, with a jsonnet that passes these on. Its recovery sends a `verification_code`, too.
  kratos: {
    proof: 'bearer',
    answer: 'json',
    pointers: {
      to: ['/recipient'],
      code: ['registration', 'login', 'recovery', 'verification'].map((flow) => `/template_data/${flow}_code`),
      text: ['/body'],
    },
    settings: bearerSettings,
  },
  // event.notification of an Action.
  auth0: {
    proof: 'bearer',
    answer: 'json',
    pointers: { to: ['/recipient'], code: ['/code'], text: ['/as_text'], locale: ['/locale'] },
    settings: bearerSettings,
  },
  // netzbegruenung/keycloak-mfa-plugins: a text, without the code apart.
  keycloak: {
    proof: 'bearer',
    answer: 'json',
    pointers: { to: ['/to'], text: ['/message'] },
    settings: (url, secret) => [
      { name: 'apiurl', value: url },
      { name: 'apiTokenInHeader', value: 'true' },
      { name: 'apitokenattribute', value: 'apikey' },
      { name: 'apitoken', value: shownSecret(secret) },
      { name: 'messageattribute', value: 'message' },
      { name: 'receiverattribute', value: 'to' },
      { name: 'senderattribute', value: 'from' },
      { name: 'hideResponsePayload', value: 'true' },
    ],
  },
};

function bearerSettings(url: string, secret: string | null): PastedSetting[] {
  return [
    { name: 'url', value: url },
    { name: 'Authorization', value: `Bearer ${shownSecret(secret)}` },
  ];
}
