// The OpenAPI document holds what a generator, a linter and a reader need of every route. The rules look at all mounted
// routes, so a new route is looked at by itself; a failure names the route and what it lacks.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createOpenApi } from '../../src/http/openapi/document.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { type OpenApi, operationsOf, responsesOf, type Schema } from './openapi-document.ts';
import { runTool } from './tools.ts';

let app: TestApp;
let document: OpenApi;
before(async () => {
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

  test('tell of their errors one by one', () => {
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

  test('ask for nothing that has a default', () => {
    const demanded = operationsOf(document).flatMap(({ what, parameters = [], requestBody }) => [
      ...parameters
        .filter((each) => each.required && each.schema.default !== undefined)
        .map(({ name }) => `${what}: ${name}`),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
        demandedIn(schema).map((each) => `${what}: ${each}`),
      ),
    ]);
    assert.deepEqual(demanded, []);
  });

  function demandedIn({ $ref, properties = {}, required = [], items, anyOf = [] }: Schema): string[] {
    if ($ref !== undefined) return demandedIn(document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {});
    return [
      ...required.filter((name) => properties[name]?.default !== undefined),
      ...[...Object.values(properties), ...anyOf, ...(items === undefined ? [] : [items])].flatMap(demandedIn),
    ];
  }
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
  const validator = new Validator();
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
