import { createOpenApi, routesOf } from '../../src/http/openapi/document.ts';
import { createUnconnectedApp } from '../unconnected-app.ts';

/** The part of JSON Schema that the document of the three APIs uses. */
interface Schema {
  $ref?: string;
  description?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface Document {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>;
}

interface Parameter {
  name: string;
  in: string;
  schema: Schema;
}

/** What the client takes and gives, by the name that it has in the document. */
const records: Record<string, string> = {
  FieldProblem: 'FieldProblem',
  MessageToSend: 'NewMessage',
  Message: 'Message',
  Batch: 'MessageBatch',
  Preview: 'MessagePreview',
  InboundText: 'InboundText',
  OptOut: 'OptOut',
  VerificationToStart: 'NewVerification',
  NumberToCheck: 'NumberToCheck',
  ReadVerification: 'Verification',
  StartedVerification: 'StartedVerification',
  CheckedVerification: 'CheckedVerification',
  Verification: 'CanceledVerification',
  GuardDecision: 'GuardDecision',
  EventFeed: 'EventPage',
};
/** A start sends `channel` by itself. */
const optional: Record<string, string[]> = { NewVerification: ['channel'] };
const filters: Record<string, string> = {
  listSms: 'MessageFilters',
  listInboundSms: 'InboundFilters',
  listSmsOptOuts: 'OptOutFilters',
  listVerifications: 'VerificationFilters',
};

const head = `"""The records of the service, as dictionaries. Made from its OpenAPI document by \`npm run docs\`.

A text such as \`\`status\`\` can get new values, and a record new fields.
"""

from typing import Any, Dict, List, Optional, TypedDict, Union

`;

/** clients/python/src/heliograph/types.py */
export function pythonTypes(): string {
  const about = { publicUrl: 'http://127.0.0.1', version: '0', tokenUrl: '', sessionCookie: 'session' };
  const document = createOpenApi(routesOf(createUnconnectedApp().routes, 'apis'), about) as unknown as Document;
  const written = new Map<string, string>();
  for (const name of Object.keys(records)) writeNamed(document, name, written);
  for (const [operation, name] of Object.entries(filters)) writeFilters(document, operation, name, written);
  written.set('ReportedVerification', 'ReportedVerification = CanceledVerification\n');
  return `${head}\n${[...written.values()].join('\n\n')}`;
}

/** Types that it uses come first, because Python reads from top to bottom. */
function writeNamed(document: Document, name: string, written: Map<string, string>): string {
  const own = records[name] ?? name;
  const schema = document.components.schemas[name];
  if (schema === undefined) throw new Error(`The document has no schema ${name}: see scripts/docs/python-types.ts.`);
  if (schema.properties === undefined) return typeOf(document, schema, own, written);
  if (!written.has(own)) written.set(own, classOf(document, schema, own, written));
  return own;
}

function writeFilters(document: Document, operation: string, name: string, written: Map<string, string>): void {
  const all = Object.values(document.paths).flatMap((path) => Object.values(path));
  const parameters = all.find(({ operationId }) => operationId === operation)?.parameters ?? [];
  const wanted = parameters.filter((parameter) => parameter.in === 'query' && parameter.name !== 'cursor');
  const properties = Object.fromEntries(wanted.map((parameter) => [parameter.name, parameter.schema]));
  written.set(name, classOf(document, { properties }, name, written));
}

/** `from` is a word of Python, so a class cannot have it as a field: these are made by calls. */
function classOf(document: Document, schema: Schema, name: string, written: Map<string, string>): string {
  const required = (schema.required ?? []).filter((field) => optional[name]?.includes(field) !== true);
  const fields = Object.entries(schema.properties ?? {}).map(([field, each]) => {
    const type = typeOf(document, each, name + pascal(field), written);
    const about = each.description === undefined ? '' : `        # ${each.description.replaceAll('\n', ' ')}\n`;
    return { isRequired: required.includes(field), line: `${about}        "${field}": ${type},\n` };
  });
  const part = (own: string, wanted: boolean) => {
    const lines = fields.filter(({ isRequired }) => isRequired === wanted).map(({ line }) => line);
    const end = wanted ? '' : '    total=False,\n';
    return lines.length === 0 ? '' : `${own} = TypedDict(\n    "${own}",\n    {\n${lines.join('')}    },\n${end})\n`;
  };
  if (fields.every(({ isRequired }) => isRequired)) return part(name, true);
  if (!fields.some(({ isRequired }) => isRequired)) return part(name, false);
  const parts = `${part(`_${name}`, true)}${part(`_${name}Optional`, false)}`;
  return `${parts}\n\nclass ${name}(_${name}, _${name}Optional):\n    pass\n`;
}

function typeOf(document: Document, schema: Schema, name: string, written: Map<string, string>): string {
  if (schema.$ref !== undefined) return writeNamed(document, schema.$ref.split('/').at(-1) ?? '', written);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return union(choices.map((each) => typeOf(document, each, name, written)));
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf(document, { type }, name, written)));
  switch (schema.type) {
    case 'string':
      return 'str';
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'null':
      return 'None';
    case 'array':
      return `List[${typeOf(document, schema.items ?? {}, name.replace(/s$/, ''), written)}]`;
    case 'object':
      if (Object.keys(schema.properties ?? {}).length === 0) return 'Dict[str, Any]';
      if (!written.has(name)) written.set(name, classOf(document, schema, name, written));
      return name;
    default:
      return 'Any';
  }
}

function union(types: string[]): string {
  const others = [...new Set(types)].filter((type) => type !== 'None');
  const one = others.length === 1 ? (others[0] ?? 'Any') : `Union[${others.join(', ')}]`;
  return types.includes('None') ? `Optional[${one}]` : one;
}

function pascal(field: string): string {
  return field.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
