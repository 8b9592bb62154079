// A text in a sample is exactly the text: each language reads its own literal back.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  goRawString,
  goString,
  javascriptString,
  javascriptValue,
  phpString,
  phpValue,
  pythonString,
  pythonValue,
  shellString,
} from '../../portal/src/docs/samples/literals.ts';
import { anyCharacter } from '../support/any-character.ts';
import { inShort } from '../support/effort.ts';
import { makeFolder } from '../support/process.ts';
import { isInstalled } from '../support/sample-programs.ts';

const nasty = [
  "'",
  '"',
  '\\',
  '\n',
  '\r',
  '\t',
  '$',
  '$HOME',
  '`id`',
  '$(id)',
  '{$a}',
  '$' + '{a}',
  '%s',
  '!',
  '#',
  '//',
  '</script>',
];
const piece = fc.oneof(
  fc.constantFrom(...nasty, '\u2028', '\u0000', '\u007f', 'é', '😀', '\\u{41}', '\\x41'),
  fc.string({ unit: anyCharacter, maxLength: 4 }),
);
const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('').toWellFormed());
const texts = [...nasty, ...nasty.map((each) => `it's ${each} "quoted" \\`), ...fc.sample(text, inShort(300, 3000))];
const values = fc.sample(fc.jsonValue({ maxDepth: 3 }), inShort(60, 600)).map((value) => wellFormed({ value }));

/** Languages compare text, not halves of surrogate pairs; and a number of JSON may be a float of theirs. */
function wellFormed(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, each) => {
      if (typeof each === 'string') return each.toWellFormed();
      if (typeof each === 'number') return Math.round(each % 1e9) + 0;
      if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
      return Object.fromEntries(Object.entries(each).map(([name, item]) => [`k${name.toWellFormed()}`, item]));
    }),
  );
}

/** Runs a program that was written to a file, and reads what it printed as JSON. */
function runFile(program: string, args: string[], name: string, code: string): unknown {
  const file = join(makeFolder('literals'), name);
  writeFileSync(file, code);
  return JSON.parse(execFileSync(program, [...args, file], { encoding: 'utf8', maxBuffer: 64 << 20 }));
}

test('values survive as JavaScript literals', () => {
  // biome-ignore lint/security/noGlobalEval: the literal is what is tested.
  const read = (literal: string) => globalThis.eval(`(${literal})`);
  for (const each of texts) assert.equal(read(javascriptString(each)), each);
  for (const each of values) assert.deepEqual(read(javascriptValue(each)), each);
});

test('values survive as shell words', () => {
  const sendable = texts.filter((each) => !each.includes('\0'));
  const script = `printf '%s\\0' ${sendable.map(shellString).join(' ')}`;
  const file = join(makeFolder('literals'), 'all.sh');
  writeFileSync(file, script);
  const printed = execFileSync('sh', [file], { encoding: 'utf8', maxBuffer: 64 << 20 });
  assert.deepEqual(printed.split('\0').slice(0, -1), sendable);
});

test('values survive as Python literals', () => {
  const list = [...texts.map(pythonString), ...values.map((each) => pythonValue(each))].join(',\n');
  const printed = runFile('python3', [], 'all.py', `import json\nprint(json.dumps([\n${list}]))`);
  assert.deepEqual(printed, [...texts, ...values]);
});

if (isInstalled('php')) {
  test('values survive as PHP literals', () => {
    const list = [...texts.map(phpString), ...values.map((each) => phpValue(each))].join(',\n');
    const printed = runFile('php', [], 'all.php', `<?php echo json_encode([\n${list}]);`);
    assert.deepEqual(printed, [...texts, ...values]);
  });
}

if (inShort(false, isInstalled('go'))) {
  test('values survive as Go literals', () => {
    const list = texts
      .flatMap((each) => [goString(each), goRawString(each)])
      .map((each) => `${each},\n`)
      .join('');
    const main = `func main() {\n\tjson.NewEncoder(os.Stdout).Encode([]string{\n${list}})\n}`;
    const code = `package main\n\nimport (\n"encoding/json"\n"os"\n)\n\n${main}`;
    assert.deepEqual(
      runFile('go', ['run'], 'main.go', code),
      texts.flatMap((each) => [each, each]),
    );
  });
}
