// Every value that any route takes has a bound in its schema. The schemas are those of the OpenAPI document, which is made
// of the routes that are mounted, so a new route is checked by itself.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { type Document, type Slot, targetsOf } from './slots.ts';

let app: TestApp;
before(async () => {
  app = await createTestApp();
});
after(() => app.close());

/** What is missing in a schema that would bound the work on its value; unknown properties are bounded for all bodies. */
function missingBound({ schema, steps }: Slot): string | undefined {
  if (schema.enum !== undefined || schema.const !== undefined || steps.at(-1) === 'unknown') return undefined;
  // A batch refuses a wrong text by itself, with the bounds of a single one; the body bounds them all.
  if (steps[0] === 'messages' && steps[1] === 0) return undefined;
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return 'type';
  if (types.includes('string') && !((schema.maxLength ?? Number.POSITIVE_INFINITY) <= 16_384)) return 'maxLength';
  if (types.includes('array') && (schema.maxItems === undefined || schema.items === undefined)) return 'maxItems';
  if (types.includes('object') && (schema.properties ?? schema.maxProperties) === undefined) return 'properties';
  const isNumber = types.includes('integer') || types.includes('number');
  if (isNumber && ((schema.minimum ?? schema.exclusiveMinimum) === undefined || schema.maximum === undefined))
    return 'minimum and maximum';
  return undefined;
}

test('every text, list, object and number of every route has its bound', async () => {
  const targets = targetsOf((await send(app, 'GET', '/openapi.json')).body as unknown as Document);
  assert.ok(targets.length > 30, 'the document was read');
  const unbounded = targets.flatMap(({ method, path, slots }) =>
    slots.flatMap((slot) => {
      const missing = missingBound(slot);
      return missing === undefined
        ? []
        : [`${method} ${path}: ${slot.location} ${slot.steps.join('.')} has no ${missing}`];
    }),
  );
  assert.deepEqual(unbounded, []);
});
