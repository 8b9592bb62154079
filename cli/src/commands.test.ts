import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { findCommand } from './command/find.ts';
import { helpOf, overview } from './command/help.ts';
import { makeReference } from './command/reference.ts';
import { commands } from './commands.ts';
import { readRecipients } from './syntax/recipients.ts';
import { readMoment, readSpan } from './syntax/span.ts';
import { readValues } from './syntax/values.ts';
import { render, textWidth } from './terminal/text.ts';
import { projectFolder } from './version.ts';

const refuses = (act: () => unknown, says: RegExp) =>
  assert.throws(act, (error: Error & { exitCode?: number }) => {
    assert.equal(error.exitCode, 2);
    assert.match(error.message, says);
    return true;
  });

describe('the table of commands', () => {
  test('docs/command-line.md is up to date (node --import tsx cli/make-docs.ts writes it)', () => {
    const document = readFileSync(new URL('docs/command-line.md', projectFolder), 'utf8');
    assert.equal(document.split('## Commands\n\n')[1]?.trimEnd(), makeReference(commands));
  });

  test('every command has a summary, a topic, an example that it can read, and help that fits into 40 columns', () => {
    for (const command of commands) {
      assert.match(command.summary, /^[A-Z].*[^.]$/, command.name);
      assert.ok(command.examples.length > 0, `${command.name} has no example`);
      for (const line of helpOf(command, 40)) {
        const isCopied =
          /^ {2}(heliograph|echo|export|openssl) |Usage|--/.test(render(line, false)) || textWidth(line) <= 40;
        assert.ok(isCopied, `${command.name}: ${render(line, false)}`);
      }
    }
    assert.ok(
      overview(commands, 80).every((line) => textWidth(line) <= 80),
      'the overview is wider than 80 columns',
    );
  });

  test('every example parses as its own command', () => {
    for (const command of commands) {
      for (const { line } of command.examples) {
        const [, words = ''] = /heliograph ([^|<>&;)]*)/.exec(line.replace(/^echo .*?\| /, '')) ?? [];
        const args = [...words.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
          ([, one, two, three]) => one ?? two ?? three ?? '',
        );
        if (args[0] === 'completion' || words === '') continue;
        const found = findCommand(commands, args);
        assert.equal(found?.command.name, command.name, line);
        assert.doesNotThrow(() => readValues(command, found?.args ?? []), line);
      }
    }
  });

  test('a command is found after shared options and by the name of its group, and a typo gets a suggestion', () => {
    assert.equal(findCommand(commands, ['--url', 'http://x', 'send', '+1'])?.command.name, 'send');
    assert.equal(findCommand(commands, ['apps'])?.command.name, 'apps list');
    assert.equal(findCommand(commands, ['carriers', '--local', 'status'])?.command.name, 'carriers --local');
    assert.equal(findCommand(commands, ['--json']), undefined);
    refuses(() => findCommand(commands, ['sned']), /Did you mean send/);
    refuses(() => findCommand(commands, ['verify']), /verify start.*verify check/);
    refuses(() => findCommand(commands, ['constructor']), /no command/);
  });
});

describe('arguments and options of a command', () => {
  const send = commands.find(({ name }) => name === 'send');
  const completion = commands.find(({ name }) => name === 'completion');
  assert.ok(send !== undefined && completion !== undefined, 'commands are missing');

  test('an unknown option, a missing value and an invalid value are usage errors', () => {
    refuses(() => readValues(send, ['+1', '--form', 'x']), /no option --form\. Did you mean --from/);
    refuses(() => readValues(send, ['+1', '--from']), /--from needs a value/);
    refuses(() => readValues(send, ['+1', '--wait=yes']), /--wait takes no value/);
    refuses(() => readValues(send, ['+1', '--api', 'fax']), /one of sms, messaging/);
    refuses(() => readValues(send, []), /<to> is missing/);
    refuses(() => readValues(completion, ['powershell']), /one of bash, zsh, fish/);
    refuses(() => readValues(completion, ['bash', 'zsh']), /Unexpected argument: zsh/);
  });

  test('numbers, then the text', () => {
    assert.deepEqual(readRecipients(['+44 7700 900123', '+447700900123', '+1', 'Hi'], undefined), {
      to: ['+447700900123', '+1'],
      message: 'Hi',
    });
    assert.deepEqual(readRecipients(['+447700900123'], '123456'), { to: ['+447700900123'], message: '123456' });
    refuses(() => readRecipients(['07700900123', 'Hi'], undefined), /not a phone number with its country code/);
    refuses(() => readRecipients(['+447700900123', 'Hi', 'there'], undefined), /Unexpected argument: there/);
    refuses(() => readRecipients(['+447700900123', 'Hi'], 'there'), /Unexpected argument: Hi/);
    refuses(
      () =>
        readRecipients(
          Array.from({ length: 1001 }, () => '+447700900123'),
          'x',
        ),
      /at most 1000/,
    );
  });

  test('spans and moments', () => {
    assert.deepEqual(
      ['90', '90s', '10m', '2h', '1d'].map((text) => readSpan(text, '--x')),
      [90, 90, 600, 7200, 86_400],
    );
    assert.equal(readMoment('10m', '--x', 0).getTime(), 600_000);
    assert.equal(readMoment('2026-01-31T12:00:00+01:00', '--x', 0).toISOString(), '2026-01-31T11:00:00.000Z');
    for (const text of ['', 'soon', '-5', '1e9', '9'.repeat(20)]) refuses(() => readSpan(text, '--x'), /time span/);
    for (const text of ['tomorrow', '2026-13-01T00:00:00Z', '12:00'])
      refuses(() => readMoment(text, '--x', 0), /span like/);
  });
});
