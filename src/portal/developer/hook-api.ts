// Tests: test/hooks/calls.test.ts
import { Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import type { HookReceiver } from '../../hooks/receive.ts';
import type { HookService } from '../../hooks/service.ts';
import { nullable, pageSchema, pathParameter } from '../../http/list-page.ts';
import { type Call, type Route, requireDeveloper, route } from '../../http/route.ts';
import { longestNumber, readNumber, rightNumber } from '../../messages/numbers/phone-number.ts';
import { invalidField } from '../../platform/errors.ts';
import { applicationParams } from './application-api.ts';
import {
  callSchema,
  checkHook,
  checkNewHook,
  fromSchema,
  givenSecret,
  hookDetailSchema,
  hookSchema,
  kindSchema,
  localeSchema,
  makesOwnKey,
  newHookSchema,
  newHookSecretSchema,
  pointersSchema,
  testSchema,
  toCall,
  toDetail,
  toHook,
  toSecret,
} from './hook-record.ts';

export interface HookManagementOptions {
  service: HookService;
  receiver: HookReceiver;
}

const base = '/portal/v1/applications/{id}/hooks';
const params = Type.Object({ ...applicationParams.properties, hook_id: pathParameter });
const overlapSeconds = Type.Integer({
  minimum: 0,
  maximum: 2_592_000,
  default: 0,
  expected: 'the seconds during which the older secrets prove calls too: 0 to 2592000 (30 days)',
});

const ownedBy = (call: Call<{ id: string }>) => ({
  accountId: requireDeveloper(call).accountId,
  applicationId: call.params.id,
});

/** The hooks of an application (section 18 of the contract). */
export function createHookManagementRoutes({ service, receiver }: HookManagementOptions, audit: Audit): Route[] {
  const shared = { auth: { kind: 'developer' }, tag: 'Developer portal: hooks' } as const;
  return [
    route({
      ...shared,
      method: 'POST',
      path: base,
      operationId: 'createHook',
      summary: 'Create a hook for an identity server',
      description: 'At most 10 per application. Copy `settings` into the configuration of the identity server.',
      params: applicationParams,
      body: Type.Object(
        {
          kind: kindSchema,
          secret: Type.Optional(nullable(givenSecret)),
          from: Type.Optional(nullable(fromSchema)),
          locale: Type.Optional(nullable(localeSchema)),
          pointers: Type.Optional(nullable(pointersSchema)),
        },
        { title: 'HookToCreate', check: checkNewHook, examples: [{ kind: 'supabase' }] },
      ),
      answers: {
        201: { description: 'The hook with its secret, shown only once', schema: newHookSchema, headers: ['Location'] },
      },
      refuses: { INCOMPATIBLE_STATE: 'The application has 10 hooks' },
      handler: async (call) => {
        const { kind, secret, from = null, locale = null, pointers = null } = call.body;
        const note = audit.note<{ id: string }>(call, (made) => ({
          act: 'hook.created',
          id: made.id,
          details: { application_id: call.params.id, kind },
        }));
        const given = { kind, secret: secret ?? undefined, from, locale, pointers };
        const made = await service.create(ownedBy(call), given, note);
        const location = `/portal/v1/applications/${call.params.id}/hooks/${made.id}`;
        return { status: 201, location, body: { ...toDetail(made), secret: made.secret } };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: base,
      operationId: 'listHooks',
      summary: 'List the hooks of an application, oldest first',
      params: applicationParams,
      answers: { 200: { description: 'All of them', schema: pageSchema(hookSchema) } },
      handler: async (call) => {
        const rows = await service.list(ownedBy(call));
        return { status: 200, body: { data: rows.map(toHook), next_cursor: null } };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${base}/{hook_id}`,
      operationId: 'getHook',
      summary: 'Read a hook',
      params,
      answers: { 200: { description: 'The hook, and which secrets are in force', schema: hookDetailSchema } },
      handler: async (call) => ({
        status: 200,
        body: toDetail(await service.read(ownedBy(call), call.params.hook_id)),
      }),
    }),
    route({
      ...shared,
      method: 'PATCH',
      path: `${base}/{hook_id}`,
      operationId: 'changeHook',
      summary: 'Change the sender, language or pointers of a hook',
      params,
      body: Type.Object(
        {
          from: Type.Optional(nullable(fromSchema)),
          locale: Type.Optional(nullable(localeSchema)),
          pointers: Type.Optional(nullable(pointersSchema)),
        },
        { title: 'HookChange', check: checkHook, examples: [{ locale: 'de' }] },
      ),
      answers: { 200: { description: 'The hook as it is now', schema: hookDetailSchema } },
      handler: async (call) => {
        const { hook_id } = call.params;
        const details = { application_id: call.params.id, changed: Object.keys(call.body) };
        const note = audit.note(call, { act: 'hook.changed', id: hook_id, details });
        return { status: 200, body: toDetail(await service.change(ownedBy(call), hook_id, call.body, note)) };
      },
    }),
    route({
      ...shared,
      method: 'DELETE',
      path: `${base}/{hook_id}`,
      operationId: 'deleteHook',
      summary: 'Delete a hook; no call is taken after the answer',
      params,
      answers: { 204: { description: 'Deleted' } },
      handler: async (call) => {
        const { hook_id } = call.params;
        const note = audit.note(call, {
          act: 'hook.deleted',
          id: hook_id,
          details: { application_id: call.params.id },
        });
        await service.remove(ownedBy(call), hook_id, note);
        return { status: 204 };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${base}/{hook_id}/secrets`,
      operationId: 'createHookSecret',
      summary: 'Create a secret; the older ones prove calls too until the overlap ends',
      params,
      body: Type.Object(
        { overlap_seconds: overlapSeconds, secret: Type.Optional(nullable(givenSecret)) },
        { title: 'HookSecretToCreate' },
      ),
      answers: { 201: { description: 'The secret, shown only once', schema: newHookSecretSchema } },
      refuses: { INCOMPATIBLE_STATE: 'The hook has 5 secrets in force' },
      handler: async (call) => {
        const { hook_id } = call.params;
        const { overlap_seconds, secret } = call.body;
        const { kind } = await service.require(ownedBy(call), hook_id);
        if (makesOwnKey(kind) !== (secret != null)) throw wrongSecret(makesOwnKey(kind));
        const details = { application_id: call.params.id, overlap_seconds };
        const note = audit.note(call, { act: 'hook.secret_created', id: hook_id, details });
        const given = { overlapSeconds: overlap_seconds, secret: secret ?? undefined };
        const made = await service.rotateSecret(ownedBy(call), hook_id, given, note);
        return { status: 201, body: { ...toSecret(made), secret: made.secret, settings: made.settings } };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${base}/{hook_id}/test`,
      operationId: 'testHook',
      summary: 'Send a code as a call of the server would',
      params,
      body: Type.Object(
        {
          to: Type.String({
            maxLength: longestNumber,
            expected: 'a number, like +15005550100',
            examples: ['+15005550100'],
          }),
        },
        { title: 'HookTestToSend' },
      ),
      answers: { 200: { description: 'The outcome of the test', schema: testSchema } },
      handler: async (call) => {
        const { hook_id } = call.params;
        await service.require(ownedBy(call), hook_id);
        const { charge } = call;
        if (charge === undefined) throw new Error('this route cannot charge a registration');
        const to = readNumber(call.body.to);
        if (to === undefined) throw invalidField('to', `must be ${rightNumber}`);
        const body = await receiver.test(hook_id, to, { origin: call, charge });
        return { status: 200, body, isUnserved: body.outcome === 'unavailable' };
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${base}/{hook_id}/calls`,
      operationId: 'listHookCalls',
      summary: 'List the last 50 calls of a hook, newest first',
      params,
      answers: { 200: { description: 'The calls and their outcomes', schema: pageSchema(callSchema) } },
      handler: async (call) => {
        const rows = await service.listCalls(ownedBy(call), call.params.hook_id);
        return { status: 200, body: { data: rows.map(toCall), next_cursor: null } };
      },
    }),
  ];
}

function wrongSecret(makesOwn: boolean) {
  return invalidField(
    'secret',
    makesOwn ? 'is required: ZITADEL makes the signing key' : 'must be left out: the service makes it',
  );
}
