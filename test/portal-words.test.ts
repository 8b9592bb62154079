import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'acorn';
import { transformSync } from 'esbuild';
import { Problem } from '../portal/src/api/problem.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = join(root, 'portal/src');

/** They write samples of code, and pages of the reference from the OpenAPI document, and list words to search by. */
const exempt = [
  'credentials/client-sample.ts',
  'credentials/curl.ts',
  'docs/model/',
  'docs/samples/',
  'docs/search/synonyms.ts',
  'integrations/samples/',
];

/** Properties that a person reads: of elements, and of objects that describe them. */
const read = new Set([
  'about',
  'alt',
  'aria-label',
  'cells',
  'children',
  'columns',
  'description',
  'documentTitle',
  'error',
  'facts',
  'hint',
  'label',
  'lead',
  'placeholder',
  'question',
  'title',
  'what',
]);

interface SyntaxNode {
  type: string;
  [name: string]: unknown;
}

type Visit = (text: string, of: string | undefined) => void;

/** The strings of a file that look like words for a person. */
function wordsIn(file: string): string[] {
  const source = readFileSync(join(pages, file), 'utf8');
  const { code } = transformSync(source, { loader: file.endsWith('x') ? 'tsx' : 'ts', jsx: 'automatic' });
  const found: string[] = [];
  walk(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }) as unknown as SyntaxNode, undefined, (text, of) => {
    const words = of !== undefined && read.has(of) ? /\p{L}/u.test(text) : isProse(text);
    if (words) found.push(text.trim());
  });
  return found;
}

/** Two words in a row, or one that begins like a sentence. */
function isProse(text: string): boolean {
  return /^\p{Lu}\p{Ll}+[.…]?$/u.test(text) || /\p{L}{2,}[,.:;!?]? \p{L}/u.test(text);
}

/** `of` is the property in which a string stands. */
function walk(node: SyntaxNode, of: string | undefined, visit: Visit): void {
  if (isUnread(node)) return;
  if (node.type === 'Literal' && typeof node.value === 'string') visit(node.value, of);
  else if (node.type === 'TemplateElement') visit((node.value as { cooked: string }).cooked, of);
  else if (node.type === 'Property') walk(node.value as SyntaxNode, nameOf(node.key as SyntaxNode), visit);
  else if (node.type === 'CallExpression') walkCall(node, visit);
  else for (const each of Object.values(node).flat()) if (isNode(each)) walk(each, of, visit);
}

/** The first argument of `jsx` is the name of an element. What is given to a function need not be shown. */
function walkCall(node: SyntaxNode, visit: Visit): void {
  const given = node.arguments as SyntaxNode[];
  const isElement = /^jsxs?$/.test(nameOf(node.callee as SyntaxNode));
  for (const each of isElement ? given.slice(1) : [node.callee as SyntaxNode, ...given]) walk(each, undefined, visit);
}

/** Imports, comparisons and errors of the code show no person anything. */
function isUnread(node: SyntaxNode): boolean {
  if (node.type === 'ImportDeclaration' || node.type === 'ImportExpression') return true;
  if (node.type === 'BinaryExpression') return ['===', '!=='].includes(node.operator as string);
  return node.type === 'NewExpression' && nameOf(node.callee as SyntaxNode) === 'Error';
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function nameOf(node: SyntaxNode): string {
  return String(node.name ?? node.value);
}

function sourcesOf(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true })
    .map(String)
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name));
}

const isExempt = (file: string) => exempt.some((part) => file.startsWith(part));
const files = sourcesOf('portal/src');

/** What people read, and what they read before. */
const rewritten: [before: RegExp, after: RegExp][] = [
  [/the key is dead/, /API key revoked/],
  [/Show its story/, /Trace request/],
  [/The limits let it pass|were left of the minute/, /Within rate limit \(\$\{quota\}\)/],
  [/The text .*is on disk/, /Message accepted and stored/],
  [/The carrier took it/, /Accepted by carrier/],
  [/Whoever/, /[Aa]sk your administrator for a (new )?reset link/],
  [/must be a name of|name of 1 to 64/, /'a name \(1–64 characters\)'/],
  [/'Admitted'|>Admitted</, /'Allowed'/],
  [/\bRefused\b by|'Refused'/, /'Rate-limited'/],
  [/Registrations that wait for you/, /'Pending approvals'/],
  [/one of those that are tried first|too easy to guess/, /This password is too common/],
  [/Nothing at this address/, /'Page not found'/],
];

describe('the words of the portal', () => {
  test('pages hold no words of their own: they are in portal/src/words', () => {
    const held = files
      .filter((file) => !/^(words|theme)\//.test(file) && !isExempt(file))
      .flatMap((file) => wordsIn(file).map((text) => `${file}: ${text}`));
    assert.equal(held.slice(0, 40).join('\n'), '');
  });

  test('no text is a string with markup in it, which a page would show as it is', () => {
    const wrong = files
      .filter((file) => file.startsWith('words/'))
      .flatMap((file) => readFileSync(join(pages, file), 'utf8').match(/'[^'\n]*<\/[A-Za-z]*>[^'\n]*'/g) ?? []);
    assert.deepEqual(wrong, []);
  });

  test('what people could not understand is rewritten, in the pages and in the messages of the service', () => {
    const texts = [
      ...files.map((file) => ({ file, text: readFileSync(join(pages, file), 'utf8') })),
      ...sourcesOf('src').map((file) => ({ file, text: readFileSync(join(root, 'src', file), 'utf8') })),
    ];
    for (const [before, after] of rewritten) {
      const left = texts.filter(({ file, text }) => before.test(text) && !isExempt(file)).map(({ file }) => file);
      assert.deepEqual(left, [], `${before} is still there`);
      assert.ok(
        texts.some(({ text }) => after.test(text)),
        `${after} is nowhere`,
      );
    }
  });

  test('an error of a field says what to enter', () => {
    const problem = (message: string) => new Problem('', { status: 400, details: [{ field: 'name', message }] });
    const told = (message: string, label?: string) => problem(message).of('name', label);
    assert.equal(told('must be a name (1–64 characters)'), 'Enter a name (1–64 characters)');
    assert.equal(told('is required: a name (1–64 characters)'), 'Enter a name (1–64 characters)');
    assert.equal(told('must have at least 8 characters'), 'Enter at least 8 characters');
    assert.equal(told('must not lie in the future', 'From'), 'From must not lie in the future');
    assert.equal(told('This password is too common.'), 'This password is too common.');
    assert.equal(problem('is wrong').of('email'), undefined);
  });
});
