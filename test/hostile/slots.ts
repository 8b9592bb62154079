/** As much of an OpenAPI document as says what can be sent. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  pattern?: string;
  format?: string;
  maxLength?: number;
  maxItems?: number;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  maxProperties?: number;
}

interface Operation {
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface Parameter {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  schema: Schema;
}

/** A place of a request where a text, a number or another value stands. */
export interface Slot {
  location: 'path' | 'query' | 'form' | 'json';
  /** From the body's root, like `messages`, 0, `to`. */
  steps: (string | number)[];
  schema: Schema;
}

export interface Target {
  method: string;
  path: string;
  tag: string;
  security: Record<string, string[]>[];
  parameters: Parameter[];
  /** Of the body; undefined for a request without one. */
  body: Schema | undefined;
  isForm: boolean;
  slots: Slot[];
}

/** Every operation that takes anything, with every place where it takes it. */
export function targetsOf(document: Document): Target[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const { requestBody, security, tags } = operation;
      // What stands in a header is read in one place for all routes (test/socket).
      const parameters = (operation.parameters ?? []).filter(
        ({ in: location }) => location === 'path' || location === 'query',
      );
      const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
      const isForm = type === 'application/x-www-form-urlencoded';
      const body = media && resolved(media.schema, document);
      const slots: Slot[] = parameters.map((parameter) => ({
        location: parameter.in,
        steps: [parameter.name],
        schema: parameter.schema,
      }));
      if (body !== undefined) slots.push(...bodySlots(body, isForm ? 'form' : 'json', []));
      const target = {
        method: method.toUpperCase(),
        path,
        tag: tags[0] ?? '',
        security,
        parameters,
        body,
        isForm,
        slots,
      };
      return slots.length === 0 ? [] : [target];
    }),
  );
}

/** The schema with all that it refers to in place. */
function resolved(schema: Schema, document: Document): Schema {
  return JSON.parse(JSON.stringify(schema), (_, value: Schema) => {
    const name = value?.$ref?.split('/').at(-1);
    const named = name === undefined ? undefined : document.components.schemas[name];
    return named === undefined ? value : resolved(named, document);
  });
}

/** The value itself, and all that stands in it. */
function bodySlots(schema: Schema, location: Slot['location'], steps: Slot['steps']): Slot[] {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return alternatives.flatMap((each) => bodySlots(each, location, steps));
  const own: Slot[] = location === 'form' && steps.length === 0 ? [] : [{ location, steps, schema }];
  const named = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    bodySlots(property, location, [...steps, name]),
  );
  const items = schema.items === undefined ? [] : bodySlots(schema.items, location, [...steps, 0]);
  // Unknown properties are ignored, and are a place like any other.
  const unknown: Slot[] =
    location === 'json' && schema.properties !== undefined
      ? [{ location, steps: [...steps, 'unknown'], schema: {} }]
      : [];
  return [...own, ...named, ...items, ...unknown];
}
