/**
 * The responses of the portal API. The types come from the schemas of the routes, like the OpenAPI document.
 * Only types are imported, so the pages contain no code of the server.
 */
import type { toPage } from '../../../src/http/list-page.ts';
import type { ServiceRecord } from '../../../src/portal/developer/service-api.ts';

export type { ShownPasswordReset } from '../../../src/accounts/account-api.ts';
export type { AccountRecord as Account, Challenge } from '../../../src/accounts/account-record.ts';
export type { InvitationRecord, NewInvitation, ShownInvitation } from '../../../src/accounts/invitation-api.ts';
export type { MemberRecord } from '../../../src/accounts/member-api.ts';
export type { SessionRecord } from '../../../src/accounts/person-api.ts';
export type { SignInRecord } from '../../../src/accounts/sign-in-api.ts';
export type { Api as ApiName, Role } from '../../../src/http/route.ts';
export type {
  ApplicationDetail,
  ApplicationRecord as Application,
  ClientSecretRecord as ClientSecret,
} from '../../../src/portal/developer/application-api.ts';
export type { ClientKeyRecord as ClientKey } from '../../../src/portal/developer/client-keys/client-key-api.ts';
export type {
  ApiKeyRecord as ApiKey,
  NewApiKeyRecord as NewApiKey,
} from '../../../src/portal/developer/credential-api.ts';
export type {
  HookCallRecord as HookCall,
  HookDetailRecord as HookDetail,
  HookRecord as Hook,
  HookTestRecord as HookTest,
  NewHookRecord as NewHook,
  NewHookSecretRecord as NewHookSecret,
} from '../../../src/portal/developer/hook-record.ts';
export type {
  ClientCredential,
  Credential,
  RegisteredRecord as Registered,
  RegistrationRecord as Registration,
} from '../../../src/portal/developer/registration-api.ts';
export type {
  NewSmppAccountRecord as NewSmppAccount,
  SmppAccountRecord as SmppAccount,
} from '../../../src/portal/developer/smpp/account-record.ts';
export type {
  NewTwilioAccountRecord as NewTwilioAccount,
  TwilioAccountRecord as TwilioAccount,
} from '../../../src/portal/developer/twilio/account-api.ts';
export type {
  InspectedDeliveryRecord as InspectedDelivery,
  NewWebhookRecord as NewWebhook,
  NewWebhookSecret,
  WebhookAttempt,
  WebhookDelivery,
  WebhookDetail,
  WebhookRecord as Webhook,
  WebhookSecretRecord as WebhookSecret,
  WebhookTest,
} from '../../../src/portal/developer/webhook-record.ts';
export type { HealthRecord as Health } from '../../../src/portal/operator/health-api.ts';
export type { WaitingRegistration } from '../../../src/portal/operator/operator-api.ts';

export type Service = ServiceRecord;
export type Plan = Service['plans'][number];

export type Page<Item> = Omit<ReturnType<typeof toPage>, 'data'> & { data: Item[] };
