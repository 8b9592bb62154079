// The documents: they are small, every link and every file that they name is there, and so is every picture; and the guides'
// pages are what they promise.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { readErrors } from '../portal/build/errors.ts';
import { guideDocuments } from '../portal/build/guide-documents.ts';
import { portalTarget, readGuide } from '../portal/build/guides.ts';
import { renderGuide } from '../portal/build/markdown.ts';
import { guideSamples } from '../portal/src/webhooks/guide-samples.ts';
import { helpNameOf, helpNames, oauthErrorNames } from '../src/http/help-links.ts';
import { type ErrorCode, statusOf } from '../src/platform/errors.ts';
import { type IdPrefix, isId } from '../src/platform/ids.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (name: string) => readFileSync(join(root, name), 'utf8');

const documents = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'sdk/README.md', 'clients/python/README.md'],
  ...['docs', 'deploy', 'test', 'src', 'bench'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => `${folder}/${String(name).replaceAll('\\', '/')}`)
      .filter((name) => name.endsWith('.md')),
  ),
];

/** Written by programs, or by the author of the specification. */
const isGenerated = (name: string) =>
  /^docs\/(?:specification|settings|routes|command-line|test-results)|^bench\/results\/|^CHANGELOG/.test(name);

/** In bytes. A reader takes one of these pages, for the server at hand. */
const mostBytesOfIntegration = 4500;
const isIntegration = (name: string) => name.startsWith('docs/integrations/');
const mostBytes = { all: 340_000, architecture: 11_000, performance: 15_000, glossary: 4000, recipes: 10_000 };

/** Source files that a document names, by their path from the project's folder, from `src` or from its own folder. */
function missingFilesIn(document: string): string[] {
  const named = [...read(document).matchAll(/`((?:[\w-]+\/)+[\w.-]+\.(?:ts|tsx|mjs|json|sql|yml))`/g)];
  const folders = ['', 'src', dirname(document)];
  return named
    .map(([, name = '']) => name)
    .filter((name) => !folders.some((folder) => existsSync(join(root, folder, name))));
}

/** The ids of a page's sections. */
const idsIn = (html: string) => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);

const idsOf = new Map(documents.map((name) => [name, idsIn(renderGuide(read(name), () => undefined).html)]));

/** Where links of a document point: other documents' sections included, the web left out. */
function linksOf(name: string): string[] {
  const links: string[] = [];
  renderGuide(read(name), (href) => {
    links.push(href);
    return href;
  });
  return links.filter((href) => !/^https?:/.test(href));
}

function isThere(name: string, href: string): boolean {
  const [path = '', section] = href.split('#');
  const linked = path === '' ? name : normalize(join(dirname(name), path));
  if (!existsSync(join(root, linked))) return false;
  return section === undefined || idsOf.get(linked)?.includes(section) === true;
}

/** Ids that are written out, in full or with a dot for the rest. */
function wrongIdsIn(text: string): string[] {
  const written = [...text.matchAll(/\b([a-z]{3})_(?=[0-9A-Z])[0-9A-Za-z]*…?/g)];
  return written.flatMap(([id, prefix = '']) => {
    const isShort = /^[a-z]{3}_01[0-9a-hjkmnp-tv-z]{0,23}…$/.test(id);
    return isShort || isId(prefix as IdPrefix, id) ? [] : [id];
  });
}

/** The samples of a document in JavaScript or TypeScript, but for modules by their name. */
function programsIn(text: string): string[] {
  return [...text.matchAll(/^( *)```(?:js|ts)(?: \S+\.(?:js|ts))?\n([\s\S]*?)^\1```$/gm)].map(
    ([, , code = '']) => code,
  );
}

/** Node and compilers take `await` at the top of a file only if it is a module. */
function needsModule(program: string): boolean {
  try {
    transformSync(program, { loader: 'ts', format: 'cjs', logLevel: 'silent' });
    return false;
  } catch (error) {
    assert.match(String(error), /Top-level await/, program);
    return true;
  }
}

describe('documents', () => {
  test('ids in samples look like ours: documents, the portal and the command line', () => {
    const sources = ['portal/src', 'cli/src'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true })
        .map((name) => `${folder}/${String(name).replaceAll('\\', '/')}`)
        .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name)),
    );
    const wrong = [...documents, ...sources].flatMap((name) => wrongIdsIn(read(name)).map((id) => `${name}: ${id}`));
    assert.deepEqual(wrong, []);
  });

  test('say "type": "module" where a sample needs it', () => {
    // The programs of tutorials are files, whose names say it.
    const silent = documents.filter((name) => {
      const text = name.startsWith('docs/tutorials/') ? '' : read(name);
      return programsIn(text).some(needsModule) && !text.includes('"type": "module"');
    });
    assert.deepEqual(silent, []);
  });

  test('every link leads to a file, and to a section that is there', () => {
    const lost = documents.flatMap((name) =>
      linksOf(name)
        .filter((href) => !isThere(name, href))
        .map((href) => `${name}: ${href}`),
    );
    assert.deepEqual(lost, []);
  });

  test('every source file that a document names is there', () => {
    const missing = documents
      .filter((name) => !isGenerated(name))
      .flatMap((name) => missingFilesIn(name).map((file) => `${name}: ${file}`));
    assert.deepEqual(missing, []);
  });

  test('documents are no larger than a reader can take in', () => {
    const sizeOf = (name: string) => Buffer.byteLength(read(name));
    const { all, ...single } = mostBytes;
    for (const [name, most] of Object.entries(single))
      assert.ok(sizeOf(`docs/${name}.md`) <= most, `docs/${name}.md has ${sizeOf(`docs/${name}.md`)} bytes`);
    for (const name of documents.filter(isIntegration))
      assert.ok(sizeOf(name) <= mostBytesOfIntegration, `${name} has ${sizeOf(name)} bytes`);
    const written = documents.filter((name) => !isGenerated(name) && !isIntegration(name));
    const table = /<!-- written by npm run bench -->.*<!-- end -->/s;
    const bytes = written.reduce((sum, name) => sum + Buffer.byteLength(read(name).replace(table, '')), 0);
    assert.ok(bytes <= all, `all documents have ${bytes} bytes`);
  });

  test('every picture of the README is there, small, and for light and dark', () => {
    const pictures = [...read('README.md').matchAll(/(?:src|srcset)="([^"]+)"/g)].map(([, name = '']) => name);
    assert.ok(pictures.length >= 8, `the README has ${pictures.length} pictures`);
    for (const name of pictures) assert.ok(statSync(join(root, name)).size < 120_000, `${name} is too large`);
    const schemes = pictures.map((name) => /-(light|dark)\.webp$/.exec(name)?.[1]);
    assert.equal(schemes.filter((scheme) => scheme === 'dark').length, pictures.length / 2);
    assert.ok(/^[^#]*<picture>/s.test(read('README.md').slice(2)), 'the first picture stands before the first section');
  });

  test('the program of the README is the one of the client, which a test runs', () => {
    const program = guideSamples(read('README.md')).get('check-a-code.mjs') ?? '';
    assert.ok(program.trimEnd().split('\n').length <= 15, 'it has more than 15 lines');
    assert.ok(read('sdk/README.md').includes(program), 'the two programs differ');
  });
});

describe('guides', () => {
  test('every document of docs/guides and docs/integrations is one, and scripts/run.mjs builds anew when one changes', () => {
    const listed = guideDocuments.map(({ file }) => file);
    const written = ['docs/guides', 'docs/integrations'].flatMap((folder) =>
      readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
    );
    assert.deepEqual(
      written.filter((name) => !listed.includes(name)),
      [],
    );
    const builder = read('scripts/run.mjs');
    const unwatched = listed.filter((file) => {
      const name = /^docs\/([\w-]+)\.md$/.exec(file)?.[1];
      return !/^docs\/(?:guides|integrations|tutorials)\//.test(file) && !builder.includes(`'${name ?? file}'`);
    });
    assert.deepEqual(unwatched, []);
  });

  test('links of guides lead to sections that exist', () => {
    const ids = new Map(guideDocuments.map((document) => [document.slug, idsIn(readGuide(document).html)]));
    for (const document of guideDocuments) {
      const { html, heading, headings } = readGuide(document);
      assert.ok(heading !== '', `${document.file} has no heading`);
      assert.equal(new Set(ids.get(document.slug)).size, ids.get(document.slug)?.length, `ids of ${document.slug}`);
      assert.ok(
        headings.every(({ id }) => ids.get(document.slug)?.includes(id)),
        document.slug,
      );
      for (const [, slug = document.slug, section] of html.matchAll(/href="(?:\/docs\/guides\/([\w-]+))?#([^"]*)"/g)) {
        assert.ok(ids.get(slug)?.includes(section), `${document.slug} links to ${slug}#${section}`);
      }
    }
  });

  test('a link to another document becomes its page; a file without a page stays text', () => {
    assert.equal(portalTarget('docs/guides/limits.md', '../events.md#python'), '/docs/guides/events#python');
    assert.equal(portalTarget('sdk/README.md', '../docs/events.md'), '/docs/guides/events');
    assert.equal(portalTarget('docs/events.md', 'contract.md#12-events'), undefined);
    assert.equal(portalTarget('docs/events.md', '../../../etc/passwd'), undefined);
    assert.equal(portalTarget('docs/events.md', 'https://example.com/'), 'https://example.com/');
    assert.equal(portalTarget('docs/events.md', '/portal/v1/me'), undefined);
  });
});

describe('the page of a document', () => {
  const render = (markdown: string) => renderGuide(markdown, (href) => portalTarget('docs/x.md', href));

  test('shows HTML as text, and follows no link that is a program', () => {
    const { html } = render(
      '# A\n\n<script>alert(1)</script>\n\nx <img src=x onerror=alert(1)> ![a"><b>](x.png)\n\n[b](javascript:alert(1)) [c](data:text/html,x)\n\n<!-- a note -->',
    );
    assert.doesNotMatch(html, /<(?:script|img|b|a)\b|note/);
    assert.match(html, /&lt;script&gt;alert\(1\)/);
  });

  test('has ids as GitHub makes them, of safe characters, each once', () => {
    const { html, heading, headings } = render(
      '# A & B\n\n## What to do when …\n\n## `x` "<y>"\n\n## ☃\n\n### Twice\n\n### Twice',
    );
    assert.equal(heading, 'A & B');
    assert.deepEqual(idsIn(html), ['what-to-do-when-', 'x-y', 'section', 'twice', 'twice-1']);
    assert.deepEqual(
      headings.map(({ text }) => text),
      ['What to do when …', 'x "<y>"', '☃'],
    );
  });

  test('names code, scrolls tables, and marks notes', () => {
    const { html } = render(
      '```ts a"b.ts\n1 < 2\n```\n\n| | |\n|---|---|\n| a | b |\n\n> [!WARNING]\n> Wait.\n\n> A word.',
    );
    assert.match(html, /aria-label="Copy a&quot;b\.ts"/);
    assert.match(html, /<code><span data-kind="number">1<\/span> &lt; /);
    assert.match(html, /<div data-table tabindex="0"[^>]*><table>\n<tbody>/);
    assert.match(html, /<div data-note="wait" role="note"><p><strong>Careful\.<\/strong> Wait\.<\/p>/);
    assert.match(html, /<blockquote><p>A word\.<\/p>/);
  });
});

describe('errors', () => {
  const errors = readErrors(portalTarget);

  test('every error has a section with its status, its reasons, what to do, and an example', () => {
    assert.deepEqual(new Set(errors.map(({ name }) => name)), new Set<string>(helpNames));
    for (const { name, status, html } of errors) {
      const code = Object.entries(statusOf).find(([each]) => helpNameOf(each as ErrorCode) === name)?.[0];
      if (code !== undefined) assert.equal(Number(status), statusOf[code as ErrorCode], name);
      assert.match(html, /<strong>Why it happens\.<\/strong>[\s\S]*<strong>What to do\.<\/strong>/, name);
    }
  });

  test('the example of an error is what the service answers: a 429 has one field', () => {
    const examples = [...read('docs/errors.md').matchAll(/^## (\S+)$[\s\S]*?^```json\n([\s\S]*?)^```$/gm)];
    assert.equal(examples.length, errors.length);
    for (const [, name = '', text = ''] of examples) {
      const example = JSON.parse(text) as Record<string, unknown>;
      const isOauth = (oauthErrorNames as readonly string[]).includes(name);
      if (name === '429') assert.deepEqual(Object.keys(example), ['message']);
      else if (isOauth) assert.deepEqual([Object.keys(example), example.error], [['error', 'error_description'], name]);
      else
        assert.deepEqual(
          [Object.keys(example), example.code],
          [['message', 'code', 'correlation_id', 'details'], name],
        );
    }
  });
});

test('no document installs a package of ours by a name: no registry has them', () => {
  const wrong = documents.flatMap((name) =>
    (read(name).match(/npm (?:i|install|add)\b[^\n`&|;]*/g) ?? [])
      .filter((line) => /\s(?:@heliograph\/\w+|heliograph)(?=\s|$|`)/.test(line))
      .map((line) => `${name}: ${line}`),
  );
  assert.deepEqual(wrong, []);
});
