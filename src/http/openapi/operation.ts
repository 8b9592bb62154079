import type { TSchema } from 'typebox';
import { schemaKeyword } from '../request/field-problems.ts';
import type { Answer, Route } from '../route.ts';
import { exampleOf } from './examples.ts';
import { parameterExamples } from './field-examples.ts';
import { headersOfAnswer } from './headers.ts';
import type { Responses } from './responses.ts';
import { type NamedSchemas, type Node, plain, type Report } from './schemas.ts';
import { securityOf } from './security.ts';
import { tags } from './tags.ts';

interface Parts {
  schemas: NamedSchemas;
  responses: Responses;
  report: Report;
}

/** One operation of the document. */
export function operationOf(route: Route, { schemas, responses, report }: Parts): Node {
  const { operationId, tag, summary, description } = route;
  if (operationId === undefined) report('has no operationId: name it like sendMessage');
  if (tags[tag] === undefined) report(`has the tag ${tag}, which src/http/openapi/tags.ts does not describe`);
  const parameters = [
    ...pathParameters(route, schemas, report),
    ...queryParameters(route, schemas, report),
    ...headerParameters(route),
  ];
  return {
    ...(operationId !== undefined && { operationId }),
    tags: [tag],
    summary,
    description: description ?? `${summary}.`,
    security: [route.auth].flat().flatMap(securityOf),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && { requestBody: bodyOf(route, route.body, schemas, report) }),
    responses: { ...answersOf(route, schemas, report), ...responses.of(route) },
  };
}

function pathParameters({ path, params }: Route, schemas: NamedSchemas, report: Report): object[] {
  return Object.entries(params?.properties ?? {}).map(([name, property]) => {
    const key = path
      .split('/')
      .flatMap((step, index, steps) => (step === `{${name}}` ? `${steps[index - 1]}/${step}` : []))[0];
    const known = parameterExamples[key ?? ''];
    if (known === undefined) report(`has no example for its parameter ${name}: add ${key} to field-examples.ts`);
    return { name, in: 'path', required: true, schema: schemas.shown(property, 'request'), ...known };
  });
}

function queryParameters({ query }: Route, schemas: NamedSchemas, report: Report): object[] {
  return Object.entries(query?.properties ?? {}).map(([name, property]) => {
    const node = plain(property);
    const { description: _, ...schema } = schemas.shown(property, 'request');
    const description = node.description ?? node[schemaKeyword];
    if (description === undefined) report(`has no description of its query parameter ${name}`);
    const required = query?.required?.includes(name) === true && node.default === undefined;
    const example = exampleOf(node, 'request', report, [name]);
    const known = { ...(description !== undefined && { description }) };
    // Keep `default` only for parameters: of a field in a body, generators make it a required field.
    const otherwise = { ...(node.default !== undefined && { default: node.default }) };
    return { name, in: 'query', required, ...known, schema: { ...schema, ...otherwise }, example };
  });
}

function headerParameters({ idempotent, stream }: Route): object[] {
  const idempotencyKey = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'The same key with the same payload gets the same answer for 24 hours, and nothing is done twice',
    schema: { type: 'string', minLength: 1, maxLength: 257, pattern: '^[\\x21-\\x7e]{1,257}$' },
    example: 'order-1234-shipped',
  };
  const lastEventId = {
    name: 'Last-Event-ID',
    in: 'header',
    required: false,
    description: 'The id of the last event that the caller has: the stream goes on after it',
    schema: { type: 'string', maxLength: 128 },
    example: '42',
  };
  return [...(idempotent ? [idempotencyKey] : []), ...(stream ? [lastEventId] : [])];
}

function bodyOf(route: Route, body: TSchema, schemas: NamedSchemas, report: Report): object {
  const type = route.consumes === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
  const example = exampleOf(plain(body), 'request', (problem) => report(`(request) ${problem}`));
  return {
    required: true,
    content: { [type]: { schema: schemas.shown(body, 'request', requestTitle(route, body)), example } },
  };
}

/** The name of a request whose schema has no title: `SendMessageRequest`. */
function requestTitle({ operationId }: Route, body: TSchema): string | undefined {
  if (operationId === undefined || plain(body).title !== undefined) return undefined;
  return `${operationId.slice(0, 1).toUpperCase()}${operationId.slice(1)}Request`;
}

function answersOf(route: Route, schemas: NamedSchemas, report: Report): Record<string, object> {
  const described: Record<string, object> = {};
  for (const [status, answer] of Object.entries(route.answers)) {
    const about = (problem: string) => report(`(answer ${status}) ${problem}`);
    described[status] = {
      description: answer.description,
      headers: headersOfAnswer(route, answer),
      ...contentOf(answer, schemas, about),
    };
  }
  return described;
}

function contentOf(
  { schema, type = 'application/json', example }: Answer,
  schemas: NamedSchemas,
  report: Report,
): object {
  if (schema === undefined && type === 'application/json') {
    if (example !== undefined) report('has an example and no schema');
    return {};
  }
  if (schema === undefined) {
    if (example === undefined) report(`has no example of its ${type}`);
    return { content: { [type]: { schema: { type: 'string' }, example } } };
  }
  const node = plain(schema);
  if (node.title === undefined) report('has a schema without a title: name its record, like Message');
  const shown = example ?? exampleOf(node, 'answer', report);
  return { content: { [type]: { schema: schemas.shown(schema, 'answer'), example: shown } } };
}
