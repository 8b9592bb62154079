import type { Api, Operation } from '../model/operations.ts';
import type { Values } from '../samples/make-request.ts';
import type { GuideCall } from './guide-calls.ts';

/** The operation that a call runs. Guides use the default realm in their addresses. */
export function findCall(apis: Api[], { method, path }: GuideCall): Operation | undefined {
  return apis
    .flatMap(({ operations }) => operations)
    .find((operation) => operation.method === method && patternOf(operation.path).test(path));
}

function patternOf(template: string): RegExp {
  const realm = template.replace(/^\/realms\/[^/]+\//, '/realms/{realm}/');
  return new RegExp(
    `^${realm
      .split(/\{\w+\}/)
      .map(escaped)
      .join('([^/]+)')}$`,
  );
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** A variable of the guide's shell becomes the example's id in the path, and `YOUR_…` elsewhere: the reader fills it in. */
export function valuesOf(operation: Operation, { path, query, headers, body }: GuideCall): Values {
  const { path: template, parameters } = operation;
  const exampleOf = (name: string) =>
    parameters.find(({ place, field }) => place === 'path' && field.name === name)?.example ?? '';
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const [, ...found] = patternOf(template).exec(path) ?? [];
  const inPath = names.map((name, index): [string, string] => [
    `path ${name}`,
    found[index]?.startsWith('$') ? exampleOf(name) : (found[index] ?? ''),
  ]);
  const given = [
    ...inPath,
    ...query.map(([name, value]) => [`query ${name}`, value]),
    ...headers.map(([name, value]) => [`header ${name}`, value]),
  ];
  return { parameters: Object.fromEntries(given), body: body === undefined ? '' : JSON.stringify(body, fillIn, 2) };
}

function fillIn(_: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/^\$(?=[A-Z_]+$)/, 'YOUR_') : value;
}
