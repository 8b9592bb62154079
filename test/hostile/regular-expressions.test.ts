// run: alone
// No regular expression of ours takes more than linear time, whatever text it meets. recheck decides that by building
// automata. It does not search for slow texts: what it finds that way differs from run to run. So an expression that an
// automaton cannot stand for, like one that looks ahead over a repetition, fails here and is written in another way.
// `npm test` proves what is not in proven-expressions.json; `npm run test:long -- regular-expressions` proves all of them again
// and writes that list.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'acorn';
import { transformSync } from 'esbuild';
import type { checkSync } from 'recheck';
import { createTestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { type Document, targetsOf } from './slots.ts';

// This file of it is plain JavaScript; its main file would try a Java machine first.
const recheck: { checkSync: typeof checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js');

const source = fileURLToPath(new URL('../../src', import.meta.url));

const provenFile = join(source, '../test/hostile/proven-expressions.json');
const provenBefore = new Set<string>(inShort(JSON.parse(readFileSync(provenFile, 'utf8')), []));
const provenNow = new Set<string>();
after(() => {
  const list = inShort(
    undefined,
    [...provenNow].sort((a, b) => (a < b ? -1 : 1)),
  );
  if (list !== undefined) writeFileSync(provenFile, `${JSON.stringify(list, undefined, 2)}\n`);
});

interface Expression {
  where: string;
  pattern: string;
  flags: string;
}

const files = readdirSync(source, { recursive: true })
  .map((name) => String(name).replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));

const found = new Map(files.map((name) => [name, read(name)]));

function read(name: string): { literals: Expression[]; constructed: number } {
  // For the newest target: for an older one some literals would be put together at run time.
  const { code } = transformSync(readFileSync(join(source, name), 'utf8'), { loader: 'ts', target: 'esnext' });
  const literals: Expression[] = [];
  parse(code, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    onToken(token) {
      const { type, value } = token as typeof token & { value: Omit<Expression, 'where'> };
      if (type.label === 'regexp') literals.push({ where: name, ...value });
    },
  });
  return { literals, constructed: code.split(/\bRegExp\(/).length - 1 };
}

/** Counting to 255 takes an automaton of as many states. Without a bound a repetition can only take longer. */
function withoutCounts(pattern: string): string {
  return pattern.replaceAll(/(?<!\\u)\{(\d+)(?:,(\d*))?\}/g, (whole, least: string, most: string | undefined) => {
    const isSmall = Number(least) <= 4 && most !== '' && Number(most ?? least) <= 4;
    return isSmall ? whole : least === '0' ? '*' : '+';
  });
}

function assertLinear(expressions: Expression[]): void {
  const done = new Set<string>();
  const bad = expressions.flatMap(({ where, pattern, flags }) => {
    const key = `/${pattern}/${flags}`;
    if (done.has(key)) return [];
    done.add(key);
    // Without a repetition there is nothing to repeat.
    if (!/[*+{]/.test(pattern) || provenBefore.has(key)) return [];
    const { status } = recheck.checkSync(withoutCounts(pattern), flags, { checker: 'automaton', timeout: null });
    if (status !== 'safe') return [`${where}: ${key} is ${status}`];
    provenNow.add(key);
    return [];
  });
  assert.deepEqual(bad, []);
}

test('the expressions of all sources take linear time', () => {
  const literals = files.flatMap((name) => found.get(name)?.literals ?? []);
  assert.ok(literals.length > 50, 'they were found');
  assertLinear(literals);
});

test('expressions that are built when a file is loaded, or by a function, take linear time', async () => {
  const inFiles = files.filter((name) => (found.get(name)?.constructed ?? 0) > 0).sort((a, b) => (a < b ? -1 : 1));
  assert.deepEqual(
    inFiles,
    [
      'accounts/people/email.ts',
      'hooks/payload.ts',
      'hooks/pointer.ts',
      'hooks/secret.ts',
      'http/request/validation.ts',
      'portal/find/search-text.ts',
      'registry/api-key.ts',
      'smpp-server/credentials.ts',
      'smpp/receipt-meaning.ts',
      'verify/assurance/payment.ts',
      'verify/start/rules.ts',
      'verify/texts/autofill.ts',
      'verify/texts/sender-name.ts',
    ],
    'put a new one together where this test can see it, and name its file here',
  );
  const made: Expression[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(target, [pattern, flags]: [string | RegExp, string?], newTarget) {
      const expression: RegExp = Reflect.construct(target, [pattern, flags], newTarget);
      made.push({ where: 'put together', pattern: expression.source, flags: expression.flags });
      return expression;
    },
  });
  try {
    await import('../../src/accounts/people/email.ts?again' as string);
    await import('../../src/hooks/payload.ts?again' as string);
    await import('../../src/hooks/pointer.ts?again' as string);
    await import('../../src/hooks/secret.ts?again' as string);
    await import('../../src/portal/find/search-text.ts?again' as string);
    await import('../../src/verify/start/rules.ts?again' as string);
    const { receiptMeaning } = await import('../../src/smpp/receipt-meaning.ts');
    receiptMeaning('stat:UNDELIV err:001', {});
    await import('../../src/smpp-server/credentials.ts?again' as string);
    await import('../../src/verify/assurance/payment.ts?again' as string);
    await import('../../src/verify/texts/autofill.ts?again' as string);
    await import('../../src/verify/texts/sender-name.ts?again' as string);
    const { createApiKeys } = await import('../../src/registry/api-key.ts');
    createApiKeys({ keyFor: () => Buffer.alloc(32) } as never, 'sandbox');
  } finally {
    globalThis.RegExp = original;
  }
  assert.ok(made.length >= 5, 'they were seen');
  assertLinear(made);
});

test('the patterns of all schemas', async () => {
  const app = await createTestApp();
  const targets = targetsOf((await send(app, 'GET', '/openapi.json')).body as unknown as Document);
  await app.close();
  const patterns = targets.flatMap(({ method, path, slots }) =>
    slots.flatMap(({ schema }) =>
      schema.pattern === undefined ? [] : [{ where: `${method} ${path}`, pattern: schema.pattern, flags: 'u' }],
    ),
  );
  assert.ok(patterns.length > 0, 'they were found');
  assertLinear(patterns);
});
