import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clean, cleanJson } from './clean.ts';
import { renderTable } from './table.ts';
import { bold, cut, green, pad, render, textWidth, wrap, wrapText } from './text.ts';
import { widthOf } from './width.ts';

/** All characters that control a terminal or change the direction of text. */
const hostile =
  '\u001b]0;owned\u0007\u001b[2J\u009b31m\u009d0;x\u009c\u202egnp\u2066\u200f\u2028\ufeff\r\u0008\u007f\u0000';
const obeyed = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\ufeff]/u;

describe('texts of others, on a terminal', () => {
  test('control characters and direction marks are shown as codes', () => {
    const shown = clean(hostile);
    assert.doesNotMatch(shown, obeyed);
    for (const code of ['\\u001b', '\\u009b', '\\u202e', '\\u2066', '\\u0000']) assert.ok(shown.includes(code), code);
  });

  test('a line break, a tab and half a surrogate pair stay on their line', () => {
    assert.equal(clean('one\r\ntwo\tthree \ud83d'), 'one↵two three \ufffd');
  });

  test('JSON keeps its meaning, and a terminal can show it', () => {
    const json = cleanJson(JSON.stringify({ text: hostile }, null, 2));
    assert.doesNotMatch(json.replaceAll('\n', ''), obeyed);
    assert.deepEqual(JSON.parse(json), { text: hostile });
  });

  test('a text cannot contain styles', () => {
    assert.equal(render(['a ', green('\u001b[8mhidden')], true), 'a \u001b[32m\\u001b[8mhidden\u001b[0m');
    assert.equal(render(bold(green('x')), false), 'x');
  });
});

describe('widths', () => {
  for (const [text, columns] of [
    ['abc', 3],
    ['日本語', 6],
    ['한국', 4],
    ['e\u0301', 1],
    ['👍', 2],
    ['👨‍👩‍👧', 2],
    ['❤️', 2],
    ['ＡＢ', 4],
    ['नमस्ते', 4],
    ['', 0],
  ] as const) {
    test(`${JSON.stringify(text)} takes ${columns}`, () => {
      // Devanagari: terminals differ by a column, so only the bound is checked.
      if (text === 'नमस्ते') assert.ok(widthOf(text) <= 6, 'wider than its characters');
      else assert.equal(widthOf(text), columns);
    });
  }

  test('cut and pad never split a visible character, nor exceed the width', () => {
    const text = ['日本', bold('👍👍'), 'e\u0301e\u0301'];
    for (let room = 0; room <= textWidth(text) + 2; room++) {
      assert.ok(textWidth(cut(text, room)) <= room, `room ${room}`);
      assert.equal(textWidth(pad(cut(text, room), room)), room);
    }
    assert.equal(render(cut('日本語', 4), false), '日…');
  });

  test('wrapped lines fit, and a key or an address is not split', () => {
    for (const line of wrap('日本語 の長い text with aVeryLongWordIndeed', 8)) assert.ok(widthOf(line) <= 8, line);
    const key = 'hg_sandbox_0123456789abcdef0123456789';
    assert.deepEqual(
      wrapText(['  The key ', bold(key), ' is new'], 20).map((line) => render(line, false)),
      ['  The key ', `  ${key}`, '  is new'],
    );
  });
});

describe('tables', () => {
  const columns = [
    { title: 'Name', flexible: true as const },
    { title: 'Id' },
    { title: 'Made', optional: 1 },
    { title: 'Count', align: 'right' as const },
  ];
  const rows = [
    ['A name that is rather long', 'app_01m7jf845e000xxq76qt8nwame', '15:22:42', '7'],
    ['日本', 'app_01m7jf84ak000hty3qk4jm3nvj', '15:22:43', '12'],
  ];

  test('no line is wider than the terminal, and ids stay whole', () => {
    for (let width = 40; width <= 120; width++) {
      const lines = renderTable(columns, rows, width);
      for (const line of lines) assert.ok(textWidth(line) <= width, `at ${width}: ${render(line, false)}`);
      const all = lines.map((line) => render(line, false)).join('\n');
      for (const [, id = ''] of rows) assert.ok(all.includes(id), `at ${width} an id is cut`);
    }
  });

  test('a narrow terminal hides optional columns first, then stacks the rows', () => {
    const heads = [120, 56, 40].map((width) => render(renderTable(columns, rows, width)[0] ?? '', false));
    assert.match(heads[0] ?? '', /Made/);
    assert.doesNotMatch(heads[1] ?? '', /Made/);
    assert.match(heads[2] ?? '', /^A name that is rather long/);
  });
});
