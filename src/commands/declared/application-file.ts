import { type Static, Type } from 'typebox';
import { mostHooks } from '../../hooks/hook.ts';
import { nullable } from '../../http/list-page.ts';
import { applicationName, checkHelpText, helpText } from '../../portal/developer/application-api.ts';
import { checkHook, fromSchema, kindSchema, localeSchema, pointersSchema } from '../../portal/developer/hook-record.ts';
import { registeredApi, registeredPlan } from '../../portal/developer/registration-api.ts';
import { webhookDescription, webhookStatus, webhookUrl } from '../../portal/developer/webhook-api.ts';
import { typeList } from '../../portal/developer/webhook-record.ts';
import { segments } from '../../portal/operator/spend-api.ts';
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

export const longestAccount = 254;

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
    high_priority: Type.Optional(Type.Boolean()),
    segments_per_day: Type.Optional(segments),
    registrations: Type.Optional(
      Type.Array(Type.Object({ api: registeredApi, plan: registeredPlan }), atMost(apis.length, 'registrations')),
    ),
    webhooks: Type.Optional(Type.Array(webhookSchema, atMost(mostWebhooks, 'webhooks'))),
    hooks: Type.Optional(Type.Array(hookSchema, atMost(mostHooks, 'hooks'))),
  },
  { check: checkHelpText },
);
export type WrittenApplication = Static<typeof applicationSchema>;
