// The OpenAPI document holds what a generator, a linter and a reader need of every route. The rules check all mounted
// routes, so a new route is checked by itself; a failure names the route and what it lacks.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import buildSerializer from 'fast-json-stringify';
import { createOpenApi } from '../../src/http/openapi/document.ts';
import { compileValidator } from '../../src/http/request/validation.ts';
import { messageErrorCodes, messageStatuses } from '../../src/messages/message.ts';
import { type IdPrefix, idTimeMs, isId } from '../../src/platform/ids.ts';
import { verificationStatuses } from '../../src/verify/verification.ts';
import { reasons } from '../../src/verify/verification-row.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { requirePages } from '../support/built-portal.ts';
import { send } from '../support/developer.ts';
import { exchange } from '../support/http.ts';
import { type OpenApi, operationsOf, responsesOf } from './openapi-document.ts';
import { runTool } from './tools.ts';

let app: TestApp;
let document: OpenApi;
const validator = new Validator();
before(async () => {
  requirePages();
  app = await createTestApp();
  document = await readDocument('/openapi.json');
});
after(() => app.close());

async function readDocument(path: string): Promise<OpenApi> {
  return (await send<OpenApi>(app, 'GET', path)).body;
}

test('no route lacks what the document needs of it', () => {
  const problems: string[] = [];
  const about = { publicUrl: app.url, version: '0', tokenUrl: `${app.url}/token`, sessionCookie: 'session' };
  createOpenApi(app.app.routes, about, (problem) => problems.push(problem));
  assert.deepEqual(problems, [], 'docs/recipes.md says how a route is described');
});

test('the linter has no word to say: no error and no warning', async () => {
  assert.equal(await runTool('lint', JSON.stringify(document)), '');
});

test('it is valid OpenAPI 3.1', async () => {
  assert.match(document.openapi, /^3\.1\./);
  const { valid, errors } = await validator.validate({ ...document });
  assert.deepEqual([valid, errors], [true, undefined]);
});

describe('routes', () => {
  test('each operation it names is one that answers', async () => {
    const operations = operationsOf(document);
    assert.ok(operations.some(({ path }) => path === '/healthz'));
    for (const { path, method, what } of operations) {
      const { status, headers } = await exchange(app.url + path.replaceAll(/\{\w+\}/g, 'x'), {
        method,
        headers: {},
      });
      assert.notEqual(status, 405, what);
      assert.ok(status < 500, what);
      assert.ok(headers.get('x-correlation-id'), what);
    }
  });

  test('it has exactly those that are mounted', () => {
    const documented = operationsOf(document).map(({ what }) => what);
    const mounted = app.app.routes.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(new Set(documented), new Set(mounted));
    assert.equal(documented.length, mounted.length);
  });

  test('every parameter in a path is described', () => {
    for (const { path, what, parameters = [] } of operationsOf(document)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const described = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
      assert.deepEqual(new Set(described), new Set(named), what);
    }
  });

  test('every schema of every route compiles: a running service compiles one when its first request needs it', () => {
    for (const { params, query, body, answers, consumes = 'json' } of app.app.routes) {
      const read = consumes === 'json' ? [params, query, body] : [params, query];
      for (const schema of read) if (schema !== undefined) compileValidator(schema);
      for (const { schema, type } of Object.values(answers)) {
        if (schema !== undefined && type === undefined) buildSerializer(schema);
      }
    }
  });
});

describe('operations', () => {
  test('have readable names of their own', () => {
    const names = operationsOf(document).map(({ operationId }) => operationId);
    assert.deepEqual(
      names.filter((name) => !/^[a-z]+(?:[A-Z][a-z]*)*$/.test(name)),
      [],
    );
    assert.equal(new Set(names).size, names.length);
    for (const name of ['startVerification', 'checkVerification', 'sendSms', 'sendMessage', 'getToken'])
      assert.ok(names.includes(name), name);
  });

  test('have an example of every request and of every answer', () => {
    const without = operationsOf(document).flatMap((operation) => {
      const media = [
        ...Object.values(operation.requestBody?.content ?? {}).map((each) => ({ ...each, where: 'request' })),
        ...responsesOf(document, operation).flatMap(([where, { content = {} }]) =>
          Object.values(content).map((each) => ({ ...each, where })),
        ),
      ];
      const bare = media.filter(({ example, examples }) => example === undefined && examples === undefined);
      return bare.map(({ where }) => `${operation.what}: ${where}`);
    });
    assert.deepEqual(without, []);
  });

  test('say which headers their answers have', () => {
    for (const operation of operationsOf(document)) {
      for (const [status, { headers = {} }] of responsesOf(document, operation)) {
        const what = `${operation.what} ${status}`;
        const needed = ['X-Correlation-ID', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
        if (status === '401') needed.push('WWW-Authenticate');
        if (status === '429' || status === '503') needed.push('Retry-After');
        for (const name of needed) assert.ok(name in headers, `${what} has no ${name}`);
      }
    }
  });

  test('list their errors one by one', () => {
    for (const operation of operationsOf(document)) {
      const { what, path, method, requestBody, security, responses } = operation;
      const has = (status: number) => String(status) in responses;
      if (requestBody !== undefined) assert.ok(has(400) && has(413), `${what}: 400 and 413 of its body`);
      if (path.includes('{')) assert.ok(has(404), `${what}: 404 of its id`);
      if (security.some((each) => 'apikey' in each || 'oauth2' in each)) assert.ok(has(401) && has(429), what);
      const isOfApi = /^\/(?:sms|verify|messaging)\//.test(path);
      if (isOfApi && method === 'POST') assert.ok(has(409) && has(422), `${what}: those of its Idempotency-Key`);
      if (security.some(({ oauth2 = [] }) => oauth2.length > 0)) assert.ok(has(403), `${what}: 403 of its scope`);
    }
  });

  test('ask for no parameter that has a default', () => {
    const demanded = operationsOf(document).flatMap(({ what, parameters = [] }) =>
      parameters
        .filter((each) => each.required && each.schema.default !== undefined)
        .map(({ name }) => `${what}: ${name}`),
    );
    assert.deepEqual(demanded, []);
  });

  test('say the defaults of a body in descriptions: generators make a field with the keyword a required one', () => {
    const { SmsToSend, VerificationToStart, MessageToSend } = document.components.schemas;
    assert.deepEqual(VerificationToStart?.required, ['to', 'channel']);
    for (const [schema, name, words] of [
      [VerificationToStart, 'code_length', 'Digits of the code (default: 6, or those of code)'],
      [SmsToSend, 'validity_seconds', 'How long carriers try to deliver it (default: 86400)'],
      [MessageToSend, 'channel', 'How it is sent (default: sms)'],
    ] as const)
      assert.equal(schema?.properties?.[name]?.description, words);
    const withKeyword = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      JSON.stringify(schema).includes('"default":') ? [name] : [],
    );
    assert.deepEqual(withKeyword, []);
  });
});

describe('values of answers', () => {
  test('values of responses are listed under a name of their own, and may grow', () => {
    const { schemas } = document.components;
    assert.deepEqual(schemas.VerificationStatus?.enum, [...verificationStatuses]);
    assert.deepEqual(schemas.VerificationReason?.enum, [...reasons]);
    assert.deepEqual(schemas.MessageStatus?.enum, [...messageStatuses]);
    assert.deepEqual(schemas.DeliveryErrorCode?.enum, [...messageErrorCodes]);
    assert.deepEqual(schemas.Message?.properties?.status?.anyOf, [
      { $ref: '#/components/schemas/MessageStatus' },
      { type: 'string' },
    ]);
    assert.deepEqual(schemas.Verification?.properties?.reason?.anyOf, [
      { $ref: '#/components/schemas/VerificationReason' },
      { type: 'string' },
      { type: 'null' },
    ]);
  });
});

describe('examples belong to one story', () => {
  test('in which ids look like ours', () => {
    const written = [...JSON.stringify(document).matchAll(/(?<![a-z_])([a-z]{3})_(?=[0-9A-Z])[0-9A-Za-z]*…?/g)];
    const wrong = written.map(([id]) => id).filter((id) => !isId(id.slice(0, 3) as IdPrefix, id));
    assert.ok(written.length > 50, 'they were found');
    assert.deepEqual([...new Set(wrong)], ['ses_5f1c0a9be2d44c3aa0b1c2d3e4f50617'], 'a session has a form of its own');
  });

  /** Each of these comes after, or with, the one before it. */
  const orders = [
    ['created_at', 'sent_at', 'delivered_at', 'expires_at'],
    ['created_at', 'updated_at', 'expires_at'],
    ['created_at', 'approved_at', 'expires_at'],
    ['created_at', 'resend_available_at', 'expires_at'],
    ['created_at', 'last_used_at', 'expires_at'],
    ['began_at', 'ends_at'],
    ['since', 'raised_at'],
    ['from', 'to'],
    ['since', 'until'],
  ];
  const isTime = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);

  function objectsIn(value: unknown): Record<string, unknown>[] {
    if (typeof value !== 'object' || value === null) return [];
    const within = Object.values(value).flatMap(objectsIn);
    return Array.isArray(value) ? within : [value as Record<string, unknown>, ...within];
  }

  test('in which times follow each other, and ids are of the time at which their record was made', () => {
    const wrong: string[] = [];
    for (const operation of operationsOf(document)) {
      const media = [
        ...Object.values(operation.requestBody?.content ?? {}),
        ...responsesOf(document, operation).flatMap(([, { content = {} }]) => Object.values(content)),
      ];
      const span = Object.fromEntries((operation.parameters ?? []).map(({ name, example }) => [name, example]));
      for (const record of [...media.flatMap(({ example }) => objectsIn(example)), span]) {
        for (const order of orders) {
          const times = order.map((name) => record[name]).filter(isTime);
          if (times.some((time, place) => place > 0 && time < (times[place - 1] ?? '')))
            wrong.push(`${operation.what}: ${order.join(', ')} are ${times.join(', ')}`);
          if (times.length > 1 && times[0] === times.at(-1)) wrong.push(`${operation.what}: ${order} are all the same`);
        }
        const { id, created_at } = record;
        if (typeof id === 'string' && isTime(created_at) && !id.startsWith('ses_'))
          assert.equal(new Date(idTimeMs(id)).toISOString(), created_at, operation.what);
      }
    }
    assert.deepEqual(wrong, []);
  });
});

test('the credentials are such that a generator understands', () => {
  const { apikey, oauth2, session } = document.components.securitySchemes;
  assert.deepEqual([apikey?.type, oauth2?.type, session?.type], ['apiKey', 'oauth2', 'apiKey']);
  const { tokenUrl, scopes } = oauth2?.flows?.clientCredentials ?? { tokenUrl: '', scopes: {} };
  assert.match(tokenUrl, /\/realms\/heliograph\/protocol\/openid-connect\/token$/);
  for (const { security, what } of operationsOf(document)) {
    const asked = security.flatMap((each) => each.oauth2 ?? []);
    assert.ok(
      asked.every((scope) => scope in scopes),
      what,
    );
  }
});

test('each part has a document of its own; together they are the whole one', async () => {
  const seen: string[] = [];
  for (const part of ['apis', 'portal', 'operators', 'operations']) {
    const own = await readDocument(`/openapi/${part}.json`);
    const { valid, errors } = await validator.validate({ ...own });
    assert.equal(valid, true, JSON.stringify(errors));
    seen.push(...operationsOf(own).map(({ operationId }) => operationId));
    const isOfPortal = operationsOf(own).filter(({ path }) => path.startsWith('/portal/'));
    if (part === 'apis') assert.deepEqual(isOfPortal, []);
    for (const [, name] of JSON.stringify(own).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      assert.ok((name ?? '') in own.components.schemas, `${part}: ${name}`);
  }
  const all = operationsOf(document).map(({ operationId }) => operationId);
  assert.equal(seen.length, all.length, 'no operation is in two parts');
  assert.deepEqual(new Set(seen), new Set(all));
});
