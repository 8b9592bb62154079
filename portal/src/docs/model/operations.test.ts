import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldOf } from './fields.ts';
import { follow, type OpenApi, type Schema } from './openapi.ts';
import { operationsOf } from './operations.ts';

const refusal = {
  description: '`INVALID_ARGUMENT`: A value is wrong. `MALFORMED_JSON`: The body is not JSON.',
  content: {
    'application/json': { schema: {}, examples: { INVALID_ARGUMENT: { value: { code: 'INVALID_ARGUMENT' } } } },
  },
};
const document: OpenApi = {
  info: { version: '1', description: '' },
  servers: [],
  tags: [{ name: 'SMS' }],
  paths: {
    '/messages': {
      post: {
        operationId: 'send',
        tags: ['SMS'],
        summary: 'Send a text',
        description: 'Send a text.',
        security: [{ apikey: [] }, { oauth2: ['openid', 'messaging:send'] }],
        responses: { 201: { description: 'Stored' }, 400: refusal, default: { $ref: '#/components/responses/Other' } },
      },
    },
  },
  components: {
    schemas: { Tree: { type: 'object', properties: { tree: { $ref: '#/components/schemas/Tree' } } } },
    responses: { Other: { description: 'Any other error' } },
    examples: {},
    headers: {},
    securitySchemes: {},
  },
};
const field = (schema: Schema) => fieldOf(document, 'it', schema, false);

test('a schema is described in words', () => {
  assert.equal(field({ type: ['string', 'null'] }).type, 'string or null');
  assert.equal(field({ anyOf: [{ type: 'object' }, { type: 'null' }] }).type, 'object or null');
  assert.equal(field({ type: 'array', items: { type: 'string' } }).type, 'list of strings');
  assert.equal(field({ type: 'string', format: 'date-time' }).type, 'time');
  assert.deepEqual(field({ minimum: 60, maximum: 259_200 }).bounds, ['60 to 259,200']);
  assert.deepEqual(field({ maxLength: 32 }).bounds, ['at most 32 characters']);
  assert.equal(field({ description: 'a text of 1 to 10 segments' }).description, 'A text of 1 to 10 segments.');
  assert.equal(field({ description: 'sms' }).description, '`sms`');
  assert.equal(field({ description: 'high: goes first' }).description, 'high: goes first.');
  assert.equal(field({ default: false }).default, 'false');
});

test('a field of the same name in two alternatives is listed once', () => {
  const one = { type: 'object', properties: { error: { type: 'object', properties: { code: {} } }, id: {} } };
  const other = { type: 'object', properties: { error: { type: 'object', properties: { details: {} } } } };
  const { fields } = field({ type: 'array', items: { anyOf: [one, other] } });
  assert.deepEqual(
    fields.map(({ name }) => name),
    ['error', 'id'],
  );
  assert.deepEqual(
    fields[0]?.fields.map(({ name }) => name),
    ['code', 'details'],
  );
});

test('a circular schema ends, and an unknown reference is reported', () => {
  let depth = 0;
  for (let [at] = field({ $ref: '#/components/schemas/Tree' }).fields; at !== undefined; [at] = at.fields) depth++;
  assert.ok(depth > 3 && depth < 10, `${depth} deep`);
  assert.throws(
    () => follow(document, { $ref: '#/components/schemas/Nothing' }),
    /has no #\/components\/schemas\/Nothing/,
  );
});

test('an operation has its credentials, its errors by code, and no description that repeats the summary', () => {
  const [operation] = operationsOf(document);
  assert.deepEqual(operation?.credentials, ['apikey', 'token']);
  assert.equal(operation?.scope, 'messaging:send');
  assert.equal(operation?.description, '');
  assert.deepEqual(
    operation?.errors.map(({ status, code, when }) => `${status} ${code} ${when}`),
    ['400 INVALID_ARGUMENT A value is wrong.', '400 MALFORMED_JSON The body is not JSON.'],
  );
});
