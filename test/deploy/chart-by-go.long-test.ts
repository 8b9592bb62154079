// The templates of deploy/chart mean to Go what they mean to the small renderer of the tests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileRenderer } from './chart/go.ts';
import { dataFor, manifestsIn, templates } from './chart/rendered.ts';
import { renderTemplates } from './chart/template.ts';
import { variants } from './chart/variants.ts';

test('Go and sprig write the same manifests', async () => {
  const byGo = await compileRenderer();
  for (const [name, values] of Object.entries(variants)) {
    const data = dataFor(values);
    const ours = manifestsIn(renderTemplates(templates, data));
    assert.deepEqual(manifestsIn(await byGo(data)), ours, name);
    assert.ok(ours.length >= 8, `${ours.length} manifests`);
  }
});
