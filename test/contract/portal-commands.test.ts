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
  const body = { token, password: 'another sentence, known to no one' };
  return send(app, 'POST', '/portal/v1/password-resets', { body });
}

describe('npm run operator', () => {
  test('a new account: the link makes it an operator and sets its password', async () => {
    const printed = await run(app, 'operator', 'New@Example.com');
    assert.match(
      printed,
      /This link makes new@example\.com an operator\. When it is used, it sets a new password and ends all sessions of the account\./,
    );
    assert.equal(printed.includes('already'), false);
    const { status, body } = await use(printed);
    assert.deepEqual([status, body.email, body.operator], [201, 'new@example.com', true]);
  });

  test('an account that exists already: it says so, and what becomes of it', async () => {
    const developer = await signUp(app);
    const printed = await run(app, 'operator', developer.email.toUpperCase());
    assert.ok(printed.includes(`${developer.email} already has an account.`), printed);
    assert.match(
      printed,
      /makes it an operator\. When it is used, it sets a new password and ends all sessions of the account/,
    );
    const token = /#\/set-password\/(\w+)/.exec(printed)?.[1];
    const look = await send(app, 'POST', '/portal/v1/password-resets/look', { body: { token } });
    assert.deepEqual(look.body, { email: developer.email, makes_operator: true, removes_second_factor: false });
    for (const bad of ['', 'x', 'A'.repeat(43), '\u0000'.repeat(43)])
      assert.equal((await send(app, 'POST', '/portal/v1/password-resets/look', { body: { token: bad } })).status, 400);
    assert.equal((await developer.send('GET', '/portal/v1/me')).status, 200, 'until the link is used');
    assert.equal((await use(printed)).body.operator, true);
    assert.equal((await developer.send('GET', '/portal/v1/me')).status, 401);
    assert.match(await run(app, 'operator', developer.email), /is already an operator\./);
  });
});

describe('the address of the link', () => {
  /** The command in a shell that knows nothing of the service's PORT. */
  const elsewhere = () => ({ ...app, config: { ...app.config, publicUrl: 'http://127.0.0.1:8080' } });

  test('is that of the running service, whatever the settings of the command say', async () => {
    const own = await createTestApp({ env: { HELIOGRAPH_PUBLIC_URL: 'http://127.0.0.1:9123' }, delivery: 'held' });
    try {
      const shell = { ...own, config: { ...own.config, publicUrl: 'http://127.0.0.1:8080' } };
      const printed = await run(shell, 'operator', 'port@example.com');
      assert.match(printed, /http:\/\/127\.0\.0\.1:9123\/#\/set-password\/\w{43}/);
      assert.match(printed, /curl -X POST http:\/\/127\.0\.0\.1:9123\//);
      assert.equal(printed.includes('8080'), false, printed);
    } finally {
      await own.close();
    }
  });

  test('is never one that the service has left: then it is that of the settings, and the command says so', async () => {
    const { database } = app.db;
    const { rows } = await database.query<{ id: string }>('select id from node');
    assert.equal(rows.length, 1, 'the running one');
    await database.query(
      `insert into node (id, acknowledged_seq, seen_at, role, started_at, public_url)
       values ('nod_dead', 0, clock_timestamp() - interval '6 s', 'all', now() + interval '1 day', 'http://gone.example'),
         ('nod_worker', 0, clock_timestamp(), 'worker', now() + interval '1 day', 'http://worker.example'),
         ('nod_older', 0, clock_timestamp(), 'all', now() + interval '1 day', null)`,
    );
    const running = await run(elsewhere(), 'operator', 'stale@example.com');
    assert.ok(running.includes(`${app.config.publicUrl}/#/`), running);
    const alone = await createTestApp({ delivery: 'held' });
    await alone.app.registry.feed.stop();
    try {
      const printed = await run(alone, 'operator', 'alone@example.com');
      assert.match(printed, /The service is not running/);
      assert.ok(printed.includes(`${alone.config.publicUrl}/#/`), printed);
    } finally {
      await alone.close();
    }
    await database.query(`delete from node where id like 'nod\\_%' and id in ('nod_dead', 'nod_worker', 'nod_older')`);
  });
});

describe('npm run reset-password', () => {
  test('the link sets a new password and ends all sessions', async () => {
    const { email } = await signUp(app);
    const printed = await run(app, 'reset-password', email);
    assert.ok(printed.includes(`This link is for ${email}. When it is used, it sets a new password and ends`), printed);
    const { rows } = await app.db.database.query<{ entry: string; act: string; actor: string }>(
      'select audit::text as entry, act, actor_kind as actor from audit order by id desc limit 1',
    );
    assert.deepEqual([rows[0]?.act, rows[0]?.actor], ['reset_link.created', 'machine']);
    const token = /#\/set-password\/(\w+)/.exec(printed)?.[1] ?? '';
    assert.ok(token !== '' && !rows[0]?.entry.includes(token), 'the log does not have the link');
    const { status, body } = await use(printed);
    assert.deepEqual([status, body.operator], [201, false]);
  });

  test('an account that does not exist gets no reset link', async () => {
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
