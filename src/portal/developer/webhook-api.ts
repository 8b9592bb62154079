// Tests: test/contract/webhooks.test.ts
import { Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import { nullable, pageSchema, pathParameter } from '../../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import type { WebhookService } from '../../webhooks/service.ts';
import { applicationParams } from './application-api.ts';
import { createWebhookDeliveryRoutes, type WebhookDeliveryOptions } from './webhook-delivery-api.ts';
import {
  newSecretSchema,
  newWebhookSchema,
  testSchema,
  toAttempt,
  toSecret,
  toWebhook,
  typeList,
  webhookDetailSchema,
  webhookSchema,
} from './webhook-record.ts';

export interface WebhookRoutesOptions extends WebhookDeliveryOptions {
  webhooks: WebhookService;
}

export const webhooksPath = '/portal/v1/applications/{id}/webhooks';
export const webhookParams = Type.Object({ ...applicationParams.properties, webhook_id: pathParameter });

const longestUrl = 2048;
export const webhookUrl = Type.String({
  minLength: 1,
  maxLength: longestUrl,
  expected: `an https URL of at most ${longestUrl} characters`,
});
export const webhookDescription = Type.String({
  maxLength: 200,
  expected: 'a text of at most 200 characters, or null',
});
const overlapSeconds = Type.Integer({
  minimum: 0,
  maximum: 2_592_000,
  default: 0,
  expected: 'the seconds during which the older secrets sign too: 0 to 2592000 (30 days)',
});
export const webhookStatus = Type.Unsafe<'active' | 'paused'>({
  type: 'string',
  enum: ['active', 'paused'],
  expected: 'active or paused',
});

/** Webhooks (section 12 of the contract). Routes that wait for other machines have a bulkhead of their own. */
export function createWebhookRoutes(options: WebhookRoutesOptions, audit: Audit): Route[] {
  const { webhooks, requireOwn } = options;
  const shared = { auth: { kind: 'developer' }, tag: 'Developer portal: webhooks' } as const;
  const waiting = { ...shared, bulkhead: 'outside' } as const;
  return [
    route({
      ...waiting,
      method: 'POST',
      path: webhooksPath,
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description: 'At most 10 an application. Every change after the answer is sent. Verify calls with the secret.',
      params: applicationParams,
      body: Type.Object(
        {
          url: webhookUrl,
          types: Type.Optional(typeList),
          description: Type.Optional(nullable(webhookDescription)),
        },
        { title: 'WebhookToCreate' },
      ),
      answers: {
        201: {
          description: 'The webhook with its secret, shown only once',
          schema: newWebhookSchema,
          headers: ['Location'],
        },
      },
      refuses: { INCOMPATIBLE_STATE: 'The application has 10 webhooks' },
      handler: async (call) => {
        const { id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const { url, types = [], description = null } = call.body;
        const note = audit.note<string>(call, (made) => ({
          act: 'webhook.created',
          id: made,
          details: { application_id: id, host: hostOf(url) },
        }));
        const made = await webhooks.create(id, { url, types, description }, note);
        const body = { ...toWebhook(made), secrets: made.secrets.map(toSecret), secret: made.secret };
        return { status: 201, location: `/portal/v1/applications/${id}/webhooks/${made.id}`, body };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: webhooksPath,
      operationId: 'listWebhooks',
      summary: 'List the webhooks of an application, oldest first',
      params: applicationParams,
      answers: { 200: { description: 'All of them', schema: pageSchema(webhookSchema) } },
      handler: async (call) => {
        await requireOwn(requireDeveloper(call).accountId, call.params.id);
        const rows = await webhooks.list(call.params.id);
        return { status: 200, body: { data: rows.map(toWebhook), next_cursor: null } };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${webhooksPath}/{webhook_id}`,
      operationId: 'getWebhook',
      summary: 'Read a webhook',
      params: webhookParams,
      answers: { 200: { description: 'The webhook, and which secrets sign', schema: webhookDetailSchema } },
      handler: async (call) => {
        const { id, webhook_id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const found = await webhooks.read(id, webhook_id);
        return { status: 200, body: { ...toWebhook(found), secrets: found.secrets.map(toSecret) } };
      },
    }),
    route({
      ...waiting,
      method: 'PATCH',
      path: `${webhooksPath}/{webhook_id}`,
      operationId: 'changeWebhook',
      summary: 'Change, pause or resume a webhook',
      description: 'Events wait while it is paused. A disabled webhook that becomes active begins with the next event.',
      params: webhookParams,
      body: Type.Object(
        {
          url: Type.Optional(webhookUrl),
          types: Type.Optional(typeList),
          description: Type.Optional(nullable(webhookDescription)),
          status: Type.Optional(webhookStatus),
        },
        { title: 'WebhookChange', examples: [{ status: 'paused' }], check: checkChange },
      ),
      answers: { 200: { description: 'The webhook as it is now', schema: webhookDetailSchema } },
      handler: async (call) => {
        const { id, webhook_id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const details = { application_id: id, changed: Object.keys(call.body), status: call.body.status };
        const note = audit.note(call, { act: 'webhook.changed', id: webhook_id, details });
        const changed = await webhooks.change(id, webhook_id, call.body, note);
        return { status: 200, body: { ...toWebhook(changed), secrets: changed.secrets.map(toSecret) } };
      },
    }),
    route({
      ...waiting,
      method: 'DELETE',
      path: `${webhooksPath}/{webhook_id}`,
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook; no attempt begins after the answer',
      params: webhookParams,
      answers: { 204: { description: 'Deleted' } },
      handler: async (call) => {
        const { id, webhook_id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const details = { application_id: id };
        await webhooks.remove(id, webhook_id, audit.note(call, { act: 'webhook.deleted', id: webhook_id, details }));
        return { status: 204 };
      },
    }),
    route({
      ...waiting,
      method: 'POST',
      path: `${webhooksPath}/{webhook_id}/secrets`,
      operationId: 'createWebhookSecret',
      summary: 'Create a secret; the older ones sign too until the overlap ends',
      params: webhookParams,
      body: Type.Object({ overlap_seconds: overlapSeconds }, { title: 'WebhookSecretToCreate' }),
      answers: { 201: { description: 'The secret, shown only once', schema: newSecretSchema } },
      refuses: { INCOMPATIBLE_STATE: 'The webhook has 5 secrets that sign' },
      handler: async (call) => {
        const { id, webhook_id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const { overlap_seconds } = call.body;
        const details = { application_id: id, overlap_seconds };
        const note = audit.note(call, { act: 'webhook.secret_created', id: webhook_id, details });
        const made = await webhooks.rotateSecret(id, webhook_id, overlap_seconds, note);
        return { status: 201, body: { ...toSecret(made), secret: made.secret } };
      },
    }),
    route({
      ...waiting,
      method: 'POST',
      path: `${webhooksPath}/{webhook_id}/test`,
      operationId: 'testWebhook',
      summary: 'Send a webhook.test now',
      description: 'Also to a webhook that is paused or disabled. It is tried once.',
      params: webhookParams,
      answers: { 200: { description: 'The outcome', schema: testSchema } },
      handler: async (call) => {
        const { id, webhook_id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const { outcome, eventId, ...attempt } = await webhooks.test(id, webhook_id);
        return { status: 200, body: { outcome, event_id: eventId, ...toAttempt(attempt) } };
      },
    }),
    ...createWebhookDeliveryRoutes(options),
  ];
}

/** The path of an address may hold a secret; its host does not. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

function checkChange(body: Record<string, unknown>) {
  return Object.values(body).some((value) => value !== undefined)
    ? []
    : [{ field: 'url', message: 'or types, description or status is required: there is nothing to change' }];
}
