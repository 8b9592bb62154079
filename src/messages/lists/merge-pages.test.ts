import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShownMessage } from '../message.ts';
import type { MessagePage } from '../message-list.ts';
import { mergePages } from './merge-pages.ts';

const page = (ids: string, searchedTo?: string): MessagePage => ({
  rows: [...ids].map((id) => ({ id }) as ShownMessage),
  searchedTo,
});
const merged = (pages: MessagePage[], limit: number) => {
  const { rows, searchedTo } = mergePages(pages, limit);
  return [rows.map(({ id }) => id).join(''), searchedTo];
};

test('full pages give one full page, newest first', () => {
  assert.deepEqual(merged([page('hfb'), page('gec')], 3), ['hgf', undefined]);
});

test('lists that ended give all their rows', () => {
  assert.deepEqual(merged([page('ca'), page('')], 3), ['ca', undefined]);
  assert.deepEqual(merged([page('c'), page('b')], 3), ['cb', undefined]);
});

test('a list that stopped early hides what the other has below it: the next page begins there', () => {
  assert.deepEqual(merged([page('h', 'e'), page('gba')], 4), ['hg', 'e']);
  assert.deepEqual(merged([page('h', 'e'), page('gb', 'a')], 4), ['hg', 'e']);
});

test('every row of two lists is read once, in order, whatever the sizes of the pages', () => {
  const lists = ['zxwtsrpnlkihgdb', 'yvuqomjfeca'];
  for (const limit of [1, 2, 3, 5, 30]) {
    let read = '';
    for (let after: string | undefined = '~'; after !== undefined; ) {
      const below: string = after;
      const pages = lists.map((list) => {
        const left = [...list].filter((id) => id < below);
        return page(left.slice(0, limit).join(''));
      });
      const { rows, searchedTo } = mergePages(pages, limit);
      read += rows.map(({ id }) => id).join('');
      after = rows.length < limit ? searchedTo : rows.at(-1)?.id;
    }
    assert.equal(read, 'zyxwvutsrqponmlkjihgfedcba', `pages of ${limit}`);
  }
});
