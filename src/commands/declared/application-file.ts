import { type Static, Type } from 'typebox';
import { mostHooks } from '../../hooks/hook.ts';
import { nullable } from '../../http/list-page.ts';
import { isCountry } from '../../messages/numbers/phone-number.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { applicationName, assurance, checkHelpText, helpText } from '../../portal/developer/application-api.ts';
import { checkHook, fromSchema, kindSchema, localeSchema, pointersSchema } from '../../portal/developer/hook-record.ts';
import { registeredApi, registeredPlan } from '../../portal/developer/registration-api.ts';
import { checkText, templateFields } from '../../portal/developer/template-api.ts';
import { webhookDescription, webhookStatus, webhookUrl } from '../../portal/developer/webhook-api.ts';
import { typeList } from '../../portal/developer/webhook-record.ts';
import { callCountries, checkCallCountries, segments } from '../../portal/operator/spend-api.ts';
import { apis } from '../../registry/application.ts';
import { mostWebhooks } from '../../webhooks/webhook.ts';
import { secretSchema } from './secret.ts';

const id = (what: string) => Type.Optional(Type.String({ maxLength: 64, expected: `the id of ${what}` }));
const atMost = (count: number, what: string) => ({
  maxItems: count,
  expected: `a list of at most ${count} ${what}`,
});

const webhookSchema = Type.Object({
  id: id('a webhook of this application'),
  url: webhookUrl,
  types: Type.Optional(typeList),
  description: Type.Optional(nullable(webhookDescription)),
  status: Type.Optional(webhookStatus),
  secret: Type.Optional(secretSchema),
});
export type WrittenWebhook = Static<typeof webhookSchema>;

const hookSchema = Type.Object(
  {
    id: id('a hook of this application'),
    kind: kindSchema,
    from: Type.Optional(nullable(fromSchema)),
    locale: Type.Optional(nullable(localeSchema)),
    pointers: Type.Optional(nullable(pointersSchema)),
    secret: Type.Optional(secretSchema),
  },
  { check: checkHook },
);
export type WrittenHook = Static<typeof hookSchema>;

const templateSchema = Type.Object(
  { country: Type.String({ maxLength: 2, expected: 'an ISO country code, like IN' }), ...templateFields },
  { check: (template: Record<string, unknown>) => [...checkCountry(template), ...checkText(template)] },
);
export type WrittenTemplate = Static<typeof templateSchema>;

function checkCountry({ country }: Record<string, unknown>): FieldProblem[] {
  if (typeof country !== 'string' || isCountry(country.toUpperCase())) return [];
  return [{ field: 'country', message: 'must be an ISO country code, like IN' }];
}

export const longestAccount = 254;
/** More than there are countries. */
const mostTemplates = 300;

/** An application of a file. What it does not say stays as it is. */
export const applicationSchema = Type.Object(
  {
    id: id('an application'),
    account: Type.String({
      minLength: 1,
      maxLength: longestAccount,
      expected: 'the email of an owner of its account, or the id of the account',
    }),
    name: applicationName,
    help_text: Type.Optional(nullable(helpText)),
    assurance: Type.Optional(assurance),
    high_priority: Type.Optional(Type.Boolean()),
    segments_per_day: Type.Optional(segments),
    call_countries: Type.Optional(callCountries),
    registrations: Type.Optional(
      Type.Array(Type.Object({ api: registeredApi, plan: registeredPlan }), atMost(apis.length, 'registrations')),
    ),
    templates: Type.Optional(Type.Array(templateSchema, atMost(mostTemplates, 'templates'))),
    webhooks: Type.Optional(Type.Array(webhookSchema, atMost(mostWebhooks, 'webhooks'))),
    hooks: Type.Optional(Type.Array(hookSchema, atMost(mostHooks, 'hooks'))),
  },
  {
    check: (application: Record<string, unknown>) => [
      ...checkHelpText(application),
      ...checkCallCountries(application),
    ],
  },
);
export type WrittenApplication = Static<typeof applicationSchema>;
