import assert from 'node:assert/strict';
import { test } from 'node:test';
import { words as tabWords } from '../words/applications.ts';
import { words as operatorWords } from '../words/operator/pages.ts';
import { pageEntries, searchPages } from './page-entries.ts';

const operator = { isOperator: true, isOwner: true, application: 'app_1' };
const found = (query: string, who = operator) => searchPages(pageEntries(who), query, 8).map(({ href }) => href);

test('a page is found by its name and by the words that people use for it', () => {
  assert.equal(found('carr')[0], '/operator/carriers');
  assert.equal(found('opt-outs')[0], '/operator/opt-outs');
  assert.ok(found('smpp').includes('/operator/carriers'));
  assert.ok(found('otp').includes('/applications/app_1/verifications'));
  assert.ok(found('2fa').includes('/account'));
  assert.ok(found('rate limit').includes('/operator/plans'));
  assert.deepEqual(found('no such page'), []);
  assert.deepEqual(found('  '), []);
});

test('a page that a person may not open is not found', () => {
  const developer = { isOperator: false, isOwner: false, application: undefined };
  const all = pageEntries(developer).map(({ href }) => href);
  assert.deepEqual(
    all.filter((href) => href.startsWith('/operator') || href.includes('audit')),
    [],
  );
  assert.ok(all.every((href) => !href.includes('undefined')));
});

test('every page of operators and every tab is found, and no other', () => {
  const hrefs = pageEntries(operator).map(({ href }) => href);
  const below = (path: string) => hrefs.filter((href) => href.startsWith(path)).map((href) => href.slice(path.length));
  const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  assert.deepEqual(new Set(below('/operator/')), new Set(Object.keys(operatorWords.pages).map(kebab)));
  assert.deepEqual(new Set(below('/applications/app_1/')), new Set(Object.keys(tabWords.tabs)));
});
