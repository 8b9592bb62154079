// `npm run operator -- <email>` and `npm run reset-password -- <email>` print a one-time link and say what it will do.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { run } from '../support/commands.ts';
import { send, signUp } from '../support/developer.ts';

let app: TestApp;
before(async () => {
  app = await createTestApp();
});
after(() => app.close());

function use(printed: string) {
  const token = /#\/set-password\/(\w+)/.exec(printed)?.[1];
  const body = { token, password: 'another sentence, known to nobody' };
  return send(app, 'POST', '/portal/v1/password-resets', { body });
}

describe('npm run operator', () => {
  test('a new account: the link makes it an operator and sets its password', async () => {
    const printed = await run(app, 'operator', 'New@Example.com');
    assert.match(
      printed,
      /This link makes new@example\.com an operator and sets its password\. It works once, within 24 hours:/,
    );
    assert.equal(printed.includes('already'), false);
    const { status, body } = await use(printed);
    assert.deepEqual([status, body.email, body.operator], [201, 'new@example.com', true]);
  });

  test('an account that exists already: it says so, and what becomes of it', async () => {
    const developer = await signUp(app);
    const printed = await run(app, 'operator', developer.email.toUpperCase());
    assert.ok(printed.includes(`${developer.email} already has an account.`), printed);
    assert.match(printed, /This link makes it an operator, sets a new password and ends all its sessions/);
    assert.equal((await developer.send('GET', '/portal/v1/me')).status, 200, 'until the link is used');
    assert.equal((await use(printed)).body.operator, true);
    assert.equal((await developer.send('GET', '/portal/v1/me')).status, 401);
    assert.match(await run(app, 'operator', developer.email), /is already an operator\./);
  });
});

describe('npm run reset-password', () => {
  test('the link sets a new password and ends all sessions', async () => {
    const { email } = await signUp(app);
    const printed = await run(app, 'reset-password', email);
    assert.ok(printed.includes(`This link sets a new password for ${email} and ends all its sessions`), printed);
    const { rows } = await app.db.database.query<{ entry: string; act: string; actor: string }>(
      'select audit::text as entry, act, actor_kind as actor from audit order by id desc limit 1',
    );
    assert.deepEqual([rows[0]?.act, rows[0]?.actor], ['reset_link.created', 'machine']);
    const token = /#\/set-password\/(\w+)/.exec(printed)?.[1] ?? '';
    assert.ok(token !== '' && !rows[0]?.entry.includes(token), 'the log does not have the link');
    const { status, body } = await use(printed);
    assert.deepEqual([status, body.operator], [201, false]);
  });

  test('there is none for an account that does not exist', async () => {
    await assert.rejects(
      run(app, 'reset-password', 'nobody@example.com'),
      /No account has the email nobody@example\.com/,
    );
  });
});

for (const args of [[], ['nobody'], ['İ@example.com'], ['a@example.com', 'b@example.com']]) {
  test(`what is no e-mail address is refused: ${args.join(' ')}`, async () => {
    for (const command of ['operator', 'reset-password']) {
      await assert.rejects(run(app, command, ...args), new RegExp(`npm run ${command} -- you@example\\.com`));
    }
  });
}
