// run: with commands
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { createWebhookReceiver, verifies } from '../support/webhook-receiver.ts';
import { createTerminal, type Terminal, type Window } from './terminal.ts';
import { createWorld, type World } from './world.ts';

let world: World;
let terminal: Terminal;
let window: Window;
let phone: Window;
before(async () => {
  world = await createWorld();
  terminal = await createTerminal(world.folder, world.env);
  [window, phone] = await Promise.all([
    terminal.open({ columns: 80, rows: 30 }),
    terminal.open({ columns: 40, rows: 30 }),
  ]);
});
after(async () => {
  await terminal?.close();
  await world?.close();
});

// One walk, as a person takes it: each step goes on from the one before.
test('login asks for what it needs, and never shows the password', async () => {
  const { email, password } = world.sandbox.portal;
  await window.type('heliograph login');
  await window.shows(/Address of the service \[http:.*\]:$/m);
  await window.press('Enter');
  await window.shows(/Email:$/m);
  await window.type(email);
  await window.shows(/Password:$/m);
  // A slip, taken back.
  await window.write(`${password}x`);
  await window.press('BSpace');
  await window.press('Enter');
  await window.shows(/Signed in to .*You have 2 applications/s);
  assert.ok(!(await window.screen()).includes(password.slice(0, 6)), 'the password is on the screen');
  await window.type('heliograph apps use "Demo enterprise"');
  await window.shows(/Demo enterprise is the default application now/);
});

test('a text is sent, followed with progress, and arrives on the phone beside it; colours only where they are wanted', async () => {
  await phone.type('heliograph inbox --follow');
  await phone.shows(/Waiting for texts/);
  await window.clear();
  await window.type('heliograph send +15005550100 "Your table is ready." --wait');
  await window.shows(/✓ \+15005550100 {2}delivered {2}msg_/);
  assert.ok((await window.styledScreen()).includes('\u001b[32m✓'), 'no colour on a terminal');
  await phone.shows(/│ Your table is ready\. │/);
  await window.clear();
  await window.type('NO_COLOR=1 heliograph send +15005550100 "Again" --wait');
  await window.shows(/delivered {2}msg_/);
  assert.ok(!(await window.styledScreen()).includes('\u001b[3'), 'a colour in spite of NO_COLOR');
});

test('what a text contains does nothing to the terminal: it is shown, in its columns', async () => {
  const text = 'A\u001b]0;owned\u0007\u001b[2J日本語の長い文章はとても長いので折り返される👍 end';
  await world.run(['send', '+15005550102', text]);
  await phone.shows(/\\u001b\]0;owned\\u0007/);
  const screen = await phone.shows(/end +│/);
  assert.match(screen.input, /Your table is ready/, 'the screen was cleared');
  assert.doesNotMatch(await phone.title(), /owned/);
  const edges = screen.input.split('\n').filter((line) => /^ {2}[╭╰]─{20,}/.test(line));
  assert.ok(
    edges.length >= 2 && edges.every((line) => line.trimEnd().length <= 40),
    'the bubble is wider than the phone',
  );
});

test('one command verifies a number, with the code that the phone shows', async () => {
  await window.clear();
  await window.type('heliograph verify start +447700900123');
  await window.shows(/Code sent to \+447700900123/);
  const [, code = ''] = await phone.shows(/(\d{6}) is your/);
  await window.shows(/Code:$/m);
  await window.type(code === '000000' ? '000001' : '000000');
  await window.shows(/The code is wrong\. {2}4 attempts left\.\nCode:/);
  await window.type(code);
  await window.shows(/\+447700900123 {2}approved/);
});

test('Ctrl-C ends a view, with 130', async () => {
  await phone.press('C-c');
  await phone.shows(/ready>$/m);
  await phone.type('echo "code $?"');
  await phone.shows(/code 130/);
});

test('listen brings signed webhooks to a program, and trace shows each step of a text', async () => {
  const receiver = await createWebhookReceiver();
  await phone.clear();
  await phone.type(`heliograph listen --forward-to ${receiver.url}`);
  const [, secret = ''] = await phone.shows(/(whsec_[A-Za-z0-9+/=\n]{40,70}?=)/);
  await phone.shows(/Waiting for events/);
  await window.clear();
  await window.type('heliograph send +15005550103 "An order" --wait');
  const [, id = ''] = await window.shows(/delivered {2}(msg_\w+)/);
  await phone.shows(/→ 200 in \d+ ms/);
  await eventually('both events are there', () => receiver.calls.length === 2);
  await receiver.close();
  assert.ok(
    receiver.calls.every((call) => verifies(secret.replaceAll('\n', ''), call)),
    'a signature is wrong',
  );
  assert.deepEqual(
    receiver.calls.map(({ event }) => [event.type, event.subject]),
    [
      ['message.sent', id],
      ['message.delivered', id],
    ],
  );
  await window.clear();
  await window.type(`heliograph trace ${id}`);
  await window.shows(/POST \/sms\/v1\/messages {2}201.*● received.*● sent.*● delivered/s);
});

test('a hook: its key is asked for and not shown, its test shows the text, and its end is confirmed', async () => {
  await window.clear();
  await window.type('heliograph hooks create zitadel');
  await window.shows(/Signing key of the HTTP SMS provider:$/m);
  await window.type('the key of ZITADEL');
  await window.shows(/✓ zitadel {2}hok_\w+.*endpoint\n\s+http:.*Next: heliograph hooks test hok_/s);
  assert.ok(!(await window.screen()).includes('the key'), 'the key is on the screen');
  await window.clear();
  await window.type('heliograph hooks test zitadel +15005550123');
  await window.shows(/sent {2}ver_\w+\s.*│ \d{6} is your .* code/s);
  await window.type('heliograph hooks delete zitadel');
  await window.shows(/Codes of zitadel will no longer be sent\. Delete it\?/);
  await window.type('y');
  await window.shows(/✓ hok_\w+ is deleted\./);
});

test('keys are shown once and kept when the person says so', async () => {
  await window.clear();
  await window.type('heliograph apps create "Shop"; heliograph keys create');
  const [key] = await window.shows(/hg_sandbox_\w+/);
  await window.shows(/for the other commands\? \(y\/N\):$/m);
  await window.type('y');
  await window.shows(/Saved in the profile/);
  const { stdout } = await world.run(['whoami', '--json']);
  assert.equal(JSON.parse(stdout).api_key.ends, key.slice(-4));
});

test('bash completes commands, options and their values', async () => {
  await window.clear();
  for (const [written, completed] of [
    ['heliograph ver', /ready> heliograph verify/],
    ['ch', /ready> heliograph verify check/],
  ] as const) {
    await window.write(written);
    await window.press('Tab');
    await window.shows(completed);
  }
  await window.press('C-u');
  await window.write('heliograph usage --sp');
  await window.press('Tab');
  await window.shows(/heliograph usage --span/);
  await window.press('Tab', 'Tab');
  await window.shows(/day +hour +month/);
  await window.press('C-u');
});
