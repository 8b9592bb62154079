// Every example request of the document is sent to the real service: none is refused as wrong, and every answer is one
// that the document describes, field by field.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { exampleId, exampleSid, exampleSpan } from '../../src/http/openapi/field-examples.ts';
import { type SidPrefix, sidOf } from '../../src/twilio/sid.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { send, type TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';
import { basicOf, type NewAccountBody } from '../twilio/caller.ts';
import { type Found, type OpenApi, operationsOf, responsesOf } from './openapi-document.ts';

let app: TestApp;
let operator: TestDeveloper;
let acme: TestApplication;
let document: OpenApi;
let tokens: Record<string, Record<string, string>>;
let sid: Record<string, string>;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  operator = await createOperator(app);
  acme = await createRegistered(app, undefined, 'enterprise', operator);
  document = (await send<OpenApi>(app, 'GET', '/openapi.json')).body;
  tokens = {
    'verify:manage': bearer(await getToken(app, acme.client, 'verify:manage')),
    'messaging:send': bearer(await getToken(app, acme.client, 'messaging:send')),
  };
  const { body } = await operator.send<NewAccountBody>('POST', `/portal/v1/applications/${acme.id}/twilio`);
  sid = { Authorization: basicOf(body.account_sid, body.auth_token) };
});
after(() => app.close());

/** Their examples name a link, a code or a password that is not the one of this test, or answer a text that is held. */
const refused = new Set([
  'resetPassword',
  'readPasswordReset',
  'readInvitation',
  'acceptInvitation',
  'acceptInvitationAsNewPerson',
  'renewRecoveryCodes',
  'confirmSecondFactor',
  'changePassword',
  'beginSecondFactor',
  'removeSecondFactor',
  'createResetLink',
  'replyFromHandset',
  'signInByLink',
]);

test('every example of a request is right, and what comes back is as described', async () => {
  const validatorFor = createValidators(document);
  const ids = await makeRecords();
  const wrong: string[] = [];
  for (const operation of inOrder(operationsOf(document))) {
    if (isStream(operation)) continue;
    const { status, type, text } = await sendExample(operation, ids);
    const { what, operationId, responses } = operation;
    if (!(status in responses))
      wrong.push(`${what} answered ${status}, which is not documented: ${text.slice(0, 200)}`);
    if (status === 400 && !refused.has(operationId))
      wrong.push(`${what}: its example is refused: ${text.slice(0, 200)}`);
    if (type !== 'application/json' || !(status in responses)) continue;
    const problem = validatorFor(operation, status)(JSON.parse(text));
    if (problem !== undefined) wrong.push(`${what} ${status}: ${problem} in ${text.slice(0, 300)}`);
    if (status === 201) rememberId(JSON.parse(text), ids);
  }
  assert.deepEqual(wrong, []);
});

/** Later requests name the first record of its kind. */
function rememberId({ id }: { id?: string }, { common }: Ids): void {
  const [prefix = ''] = id?.split('_') ?? [];
  if (id !== undefined && prefix.length === 3) common[prefix] ??= id;
}

/** Records are read before they are deleted, and the session ends last. */
function inOrder(operations: Found[]): Found[] {
  const place = ({ method, operationId }: Found) =>
    ['signOut', 'deleteAccount', 'leaveAccount'].includes(operationId)
      ? 3
      : operationId === 'deleteApplication'
        ? 2
        : method === 'DELETE'
          ? 1
          : 0;
  return operations.sort((a, b) => place(a) - place(b));
}

function isStream({ responses }: Found): boolean {
  return JSON.stringify(responses).includes('text/event-stream');
}

type Ids = { common: Record<string, string>; message: Record<string, string> };

async function makeRecords(): Promise<Ids> {
  const later = new Date(app.clock.nowMs() + 3_600_000).toISOString();
  const body = { to: '+447700900123', from: 'ACME', message: 'Hello', send_at: later };
  const start = { to: '+447700900124', channel: 'sms' };
  const made = async (path: string, headers: Record<string, string>, given: object) => {
    const { body: record, status } = await send<{ id: string }>(app, 'POST', path, { headers, body: given });
    assert.ok(status < 300, `${path} answered ${status}`);
    return record.id;
  };
  return {
    common: {
      app: acme.id,
      key: acme.keyId,
      ver: await made('/verify/v1/verifications', tokens['verify:manage'] ?? {}, start),
    },
    message: {
      sms: await made('/sms/v1/messages', { apikey: acme.apiKey }, body),
      messaging: await made('/messaging/v1/messages', tokens['messaging:send'] ?? {}, body),
    },
  };
}

async function sendExample({ path, method, parameters = [], requestBody, security }: Found, ids: Ids) {
  const real = (text: string) => {
    const message = ids.message[path.split('/')[1] ?? ''] ?? ids.message.sms ?? '';
    const here = text
      // A name is not known on a machine without a network, and a span of events is one of the last days.
      .replaceAll('https://example.com/hooks', 'http://127.0.0.1:9/hooks')
      .replaceAll(exampleSpan.from, new Date(app.clock.nowMs() - 3_600_000).toISOString())
      .replaceAll(exampleSpan.to, new Date(app.clock.nowMs()).toISOString());
    const { app: application = '', ver = '' } = ids.common;
    const sids = { VA: application, AC: application, MG: application, VE: ver, SM: ids.message.sms ?? '' };
    const withSids = Object.entries(sids).reduce(
      (replaced, [prefix, id]) => replaced.replaceAll(exampleSid(prefix), sidOf(prefix as SidPrefix, id)),
      here,
    );
    return Object.entries({ ...ids.common, msg: message }).reduce(
      (replaced, [prefix, id]) => replaced.replaceAll(exampleId(prefix), id),
      withSids,
    );
  };
  let target = path;
  for (const { name, in: place, example } of parameters) {
    if (place === 'path') target = target.replace(`{${name}}`, encodeURIComponent(real(example)));
  }
  // A cursor is of one list, and an optional filter would find nothing; those that a request must have are sent.
  const query = parameters.filter((each) => each.in === 'query' && each.required);
  const search = new URLSearchParams(Object.fromEntries(query.map(({ name, example }) => [name, real(example)])));
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
  const isForm = type === 'application/x-www-form-urlencoded';
  const given = media?.example as Record<string, string> | undefined;
  const body = given === undefined ? undefined : isForm ? new URLSearchParams(given).toString() : JSON.stringify(given);
  const response = await fetch(`${app.url}${target}${search.size > 0 ? `?${search}` : ''}`, {
    method,
    redirect: 'manual',
    headers: { ...credentialFor(security), ...(type !== undefined && { 'Content-Type': type }) },
    ...(body !== undefined && { body: real(body) }),
  });
  const [found = ''] = (response.headers.get('content-type') ?? '').split(';');
  return { status: response.status, type: found, text: await response.text() };
}

function credentialFor([kinds = {}]: Found['security']): Record<string, string> {
  if ('apikey' in kinds) return { apikey: acme.apiKey };
  if ('sid' in kinds) return sid;
  if ('session' in kinds) return { Cookie: operator.cookie };
  return tokens[kinds.oauth2?.find((scope) => scope !== 'openid') ?? ''] ?? {};
}

/** Standards decide what else these have. */
const open = new Set(['OpenApiDocument', 'KeySet']);

/** Says what is wrong with an answer: a field that is missing, of another type, or not documented. */
function createValidators(described: OpenApi) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, inlineRefs: false });
  const schemas = Object.entries(described.components.schemas);
  const closed = schemas.map(([name, schema]) => [name, open.has(name) ? schema : close(schema)]);
  ajv.addSchema({ components: { schemas: Object.fromEntries(closed) } }, 'document');
  return (operation: Found, status: number) => {
    const [, { content }] = responsesOf(described, operation).find(([each]) => each === String(status)) ?? ['', {}];
    const $ref = `document${content?.['application/json']?.schema.$ref}`;
    const validate = ajv.getSchema($ref);
    assert.ok(validate, `${operation.what} ${status} has no schema`);
    return (value: unknown) => (validate(value) ? undefined : ajv.errorsText(validate.errors));
  };
}

function close<Part>(part: Part): Part {
  return JSON.parse(JSON.stringify(part), (_, value) => {
    const isClosed = value?.properties !== undefined && value.additionalProperties === undefined;
    return isClosed && value.type !== undefined ? { ...value, additionalProperties: false } : value;
  });
}
