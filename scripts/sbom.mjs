// The bill of materials of the package, in the format CycloneDX 1.6: all that is bundled, and all that npm installs with it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Which files list what a bundle contains, and how: builds write them with the licences. */
const bundles = [
  { name: 'service', file: 'dist/THIRD-PARTY.txt', entry: /^-{80}\n\n(\S+) (\S+) \(/gm },
  { name: 'portal', file: 'portal/dist/THIRD-PARTY.md', entry: /^## (\S+) - (\S+) \(/gm },
];

/** `root` ends with a slash. The same builds and the same lock file give the same text. */
export function createSbom(root) {
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
  const found = new Map();
  for (const { name, file, entry } of bundles) {
    for (const [, library, version] of readFileSync(root + file, 'utf8').matchAll(entry))
      note(found, keyOf(packages, library, version), { scope: 'required', place: `bundled in the ${name}` });
  }
  const { dependencies = {}, optionalDependencies = {} } = packages[''];
  for (const each of Object.keys(dependencies)) follow(packages, found, '', each, 'required');
  for (const each of Object.keys(optionalDependencies)) follow(packages, found, '', each, 'optional');
  return documentOf(packages, found);
}

function note(found, key, { scope, place }) {
  const known = found.get(key) ?? { scope, places: new Set() };
  if (scope === 'required') known.scope = scope;
  known.places.add(place);
  found.set(key, known);
}

function keyOf(packages, library, version) {
  const keys = Object.keys(packages).filter((key) => key.endsWith(`node_modules/${library}`));
  const key = keys.find((each) => packages[each].version === version);
  if (key === undefined) throw new Error(`package-lock.json has no ${library} ${version}: run npm ci and build again.`);
  return key;
}

/** What npm installs with the package, and what that needs. */
function follow(packages, found, from, name, scope) {
  const key = resolve(packages, from, name);
  if (key === undefined || found.get(key)?.places.has('installed')) return;
  note(found, key, { scope, place: 'installed' });
  for (const each of Object.keys(packages[key].dependencies ?? {})) follow(packages, found, key, each, scope);
}

/** As Node finds a package: in the nearest node_modules. */
function resolve(packages, from, name) {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
    const key = place === '' ? `node_modules/${name}` : `${place}/node_modules/${name}`;
    if (packages[key] !== undefined) return key;
    if (place === '') return undefined;
  }
}

function documentOf(packages, found) {
  const { name, version, license } = packages[''];
  const own = { 'bom-ref': `${name}@${version}`, name, version, purl: `pkg:npm/${name}@${version}` };
  const keys = sorted(found.keys());
  const components = keys.map((key) => componentOf(key, packages[key], found.get(key)));
  const refOf = (key) => purlOf(nameOf(key), packages[key].version);
  const needs = (key) => {
    const names = Object.keys({ ...packages[key].dependencies, ...packages[key].optionalDependencies });
    const others = names.map((each) => resolve(packages, key, each)).filter((each) => found.has(each));
    return { ref: refOf(key), dependsOn: sorted(others.map(refOf)) };
  };
  const needed = new Set(keys.flatMap((key) => needs(key).dependsOn));
  const direct = sorted(keys.map(refOf).filter((ref) => !needed.has(ref)));
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: { type: 'application', ...own, licenses: licensesOf(license) },
    },
    components: unique('bom-ref', components),
    dependencies: [{ ref: own['bom-ref'], dependsOn: direct }, ...unique('ref', keys.map(needs))],
  };
  const { bomFormat, specVersion, ...rest } = document;
  return `${JSON.stringify({ bomFormat, specVersion, serialNumber: serialOf(document), ...rest }, null, 2)}\n`;
}

/** Each once, in the order of the characters, which is the same everywhere. */
function sorted(texts) {
  return [...new Set(texts)].sort((one, other) => (one < other ? -1 : 1));
}

/** One version may lie in several folders. */
function unique(field, entries) {
  return [...new Map(entries.map((entry) => [entry[field], entry])).values()];
}

function componentOf(key, { version, integrity, license }, { scope, places }) {
  const [group, name] = nameOf(key).startsWith('@') ? nameOf(key).split('/') : [undefined, nameOf(key)];
  const purl = purlOf(nameOf(key), version);
  return {
    type: 'library',
    'bom-ref': purl,
    ...(group !== undefined && { group }),
    name,
    version,
    scope,
    ...(integrity !== undefined && { hashes: hashesOf(integrity) }),
    licenses: licensesOf(license),
    purl,
    properties: sorted(places).map((value) => ({ name: 'heliograph:place', value })),
  };
}

function nameOf(key) {
  return key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function purlOf(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** Of the file that the registry has: `sha512-<base64>`. */
function hashesOf(integrity) {
  const [, text = ''] = /^sha512-(\S+)/.exec(integrity) ?? [];
  return [{ alg: 'SHA-512', content: Buffer.from(text, 'base64').toString('hex') }];
}

function licensesOf(license) {
  if (license === undefined) return [];
  return /[ (]/.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
}

/** Made of the content, so that equal contents have equal numbers. */
function serialOf(document) {
  const hex = createHash('sha256').update(JSON.stringify(document)).digest('hex');
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
