// "Password work is limited per address (HELIOGRAPH_PASSWORD_PER_MINUTE, 20, then 429) and shared fairly between addresses;
// one address cannot fill the queue. Throttle by account and by address key (/64), not by the spelling of an e-mail."
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type Answer, send } from '../support/developer.ts';

const password = 'a sentence that only I would think of';
const proxied = { HELIOGRAPH_TRUSTED_PROXIES: '127.0.0.1' };

let app: TestApp;
let limited: TestApp;
/** Where hashing takes long enough that a queue forms. */
let slow: TestApp;
before(async () => {
  app = await createTestApp({ env: proxied, delivery: 'held' });
  limited = await createTestApp({ env: { ...proxied, HELIOGRAPH_PASSWORD_PER_MINUTE: '20' }, delivery: 'held' });
  const passwordCost = { scrypt: { logN: 14, p: 1 }, argon2: { memoryKiB: 65_536, passes: 2 } };
  slow = await createTestApp({ env: proxied, delivery: 'held', passwordCost });
});
after(async () => {
  await slow.close();
  await app.close();
  await limited.close();
});

/** A person at an address of their own. */
function from(on: TestApp, address: string) {
  const post = (path: string) => (body: object) =>
    send(on, 'POST', `/portal/v1/${path}`, { body, headers: { 'x-forwarded-for': address } });
  return { signUp: post('accounts'), signIn: post('sessions'), reset: post('password-resets') };
}

const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status);
const countOf = (answers: Answer[], status: number) => answers.filter((each) => each.status === status).length;

async function rowsOf(on: TestApp, table: string): Promise<number> {
  const { rows } = await on.db.database.query<{ count: number }>(`select count(*)::int as count from ${table}`);
  return rows[0]?.count ?? 0;
}

describe('429: password work of one address', () => {
  test('sign-ups, sign-ins and resets count together, 20 a minute; other addresses notice nothing', async () => {
    const ada = from(limited, '192.0.2.1');
    const email = 'limited@example.com';
    assert.equal((await ada.signUp({ email, password })).status, 201);
    const token = await limited.app.people.createLink(email);
    assert.equal((await ada.reset({ token, password })).status, 201);
    for (let i = 2; i < 20; i++) assert.equal((await ada.signIn({ email, password })).status, 201, `sign-in ${i}`);

    const refused = await ada.signIn({ email, password });
    assert.equal(refused.status, 429);
    assert.deepEqual(Object.keys(refused.body), ['message']);
    assert.match(String(refused.body.message), /At most 20 .* a minute from one address.*Try again in 60 s/);
    const number = (name: string) => Number(refused.headers.get(name));
    assert.equal(number('ratelimit-remaining'), 0);
    assert.equal(number('retry-after'), 60);
    assert.ok(number('ratelimit-reset') >= number('retry-after'));
    assert.ok(number('ratelimit-limit') > 0);
    assert.equal((await ada.signUp({ email: 'new@example.com', password })).status, 429);
    const second = await limited.app.people.createLink(email);
    assert.equal((await ada.reset({ token: second, password })).status, 429);

    assert.equal((await from(limited, '192.0.2.2').signIn({ email, password })).status, 201);
  });

  test('Retry-After is true: who waits that long is admitted', async () => {
    const eve = from(limited, '192.0.2.3');
    const guess = () => eve.signIn({ email: 'nobody@example.com', password });
    for (let i = 0; i < 20; i++) await guess();
    const { status, headers } = await guess();
    assert.equal(status, 429);
    limited.clock.advance(Number(headers.get('retry-after')) * 1000 - 1001);
    const early = await guess();
    assert.equal(early.status, 429);
    limited.clock.advance(Number(early.headers.get('retry-after')) * 1000);
    assert.equal((await eve.signUp({ email: 'after-the-wait@example.com', password })).status, 201);
  });

  test('an IPv6 address is counted by its /64', async () => {
    for (let i = 0; i < 20; i++) {
      const { status } = await from(limited, `2001:db8::${i}`).signIn({ email: `nobody-${i}@example.com`, password });
      assert.equal(status, 401);
    }
    const email = 'nobody@example.com';
    assert.equal((await from(limited, '2001:db8::ffff').signIn({ email, password })).status, 429);
    assert.equal((await from(limited, '2001:db8:0:1::1').signIn({ email, password })).status, 401);
  });

  test('a link that does not work is looked up and refused; it hashes nothing and counts for nothing', async () => {
    const eve = from(limited, '192.0.2.4');
    const bogus = ['x', 'A'.repeat(43), `${'A'.repeat(42)}\u0000`, `${'A'.repeat(42)}é`, 'A'.repeat(128)];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => eve.reset({ token: bogus[i % bogus.length], password })),
    );
    assert.equal(countOf(answers, 400), 50, String(statusesOf(answers)));
    assert.equal((await eve.signUp({ email: 'after-resets@example.com', password })).status, 201);
  });
});

describe('the queue for hashing', () => {
  test('an address that floods is refused by itself: sign-ins from elsewhere are served meanwhile', async () => {
    const email = 'bystander@example.com';
    assert.equal((await from(slow, '192.0.2.10').signUp({ email, password })).status, 201);
    const eve = from(slow, '192.0.2.11');
    const flood = Array.from({ length: 120 }, (_, i) => eve.signIn({ email: `made-up-${i}@example.com`, password }));
    const served = await Promise.all(
      [20, 21, 22, 23].map((host) => from(slow, `192.0.2.${host}`).signIn({ email, password })),
    );
    assert.deepEqual(statusesOf(served), [201, 201, 201, 201]);
    const answers = await Promise.all(flood);
    assert.equal(countOf(answers, 401) + countOf(answers, 429), 120, 'no 503: the queue was never full');
  });

  test('made-up reset links never enter it', async () => {
    const email = 'not-locked-out@example.com';
    assert.equal((await from(slow, '192.0.2.12').signUp({ email, password })).status, 201);
    const eve = from(slow, '192.0.2.13');
    const flood = Array.from({ length: 100 }, () => eve.reset({ token: 'A'.repeat(43), password }));
    assert.equal((await from(slow, '192.0.2.12').signIn({ email, password })).status, 201);
    assert.equal(countOf(await Promise.all(flood), 400), 100);
  });
});

describe('429: guesses at one account', () => {
  test('another spelling is another guess at the same account, or no e-mail address', async () => {
    const email = 'iiiii@example.com';
    assert.equal((await from(app, '192.0.2.30').signUp({ email, password })).status, 201);
    const eve = from(app, '192.0.2.31');
    const letters = ['i', 'I', 'İ', 'ı', 'i\u0307'];
    const spellings = Array.from({ length: 25 }, (_, n) => {
      const name = [n, n / 5, n / 25, n + 1, n + 2].map((digit) => letters[Math.floor(digit) % 5]).join('');
      return `${name}@example.com`;
    });
    spellings.push('iiiii@example.com', 'IIIII@example.com', 'iIiIi@EXAMPLE.com', 'Iiiii@Example.com');
    const answers: Answer[] = [];
    for (const spelling of spellings) answers.push(await eve.signIn({ email: spelling, password: 'wrong' }));
    assert.equal(countOf(answers, 401), 3, 'guesses');
    assert.equal(countOf(answers, 401) + countOf(answers, 429) + countOf(answers, 400), spellings.length);
    for (const spelling of spellings) {
      assert.notEqual((await eve.signIn({ email: spelling, password })).status, 201, spelling);
    }
  });

  test('addresses of one /64 guess together', async () => {
    const email = 'by-network@example.com';
    assert.equal((await from(app, '192.0.2.40').signUp({ email, password })).status, 201);
    const answers: Answer[] = [];
    for (let i = 0; i < 8; i++) {
      answers.push(await from(app, `2001:db8:40::${i}`).signIn({ email, password: 'wrong' }));
    }
    assert.deepEqual(statusesOf(answers), [401, 401, 401, 429, 429, 429, 429, 429]);
    assert.equal((await from(app, '2001:db8:41::1').signIn({ email, password })).status, 201);
  });

  test('an account that does not exist answers the same, guess by guess', async () => {
    const email = 'exists@example.com';
    assert.equal((await from(app, '192.0.2.50').signUp({ email, password })).status, 201);
    const guess = async (target: string) => {
      const told: unknown[] = [];
      for (let i = 0; i < 7; i++) {
        const { status, headers, body } = await from(app, '192.0.2.51').signIn({ email: target, password: 'wrong' });
        told.push({ status, message: body.message, wait: headers.get('retry-after'), names: [...headers.keys()] });
        if (i === 4) app.clock.advance(1000);
      }
      return told;
    };
    assert.deepEqual(await guess('does-not@example.com'), await guess(email));
  });
});

describe('what sign-ins leave behind', () => {
  test('a made-up e-mail adds rows only when its password was checked', async () => {
    const before = await rowsOf(limited, 'sign_in_throttle');
    const eve = from(limited, '192.0.2.60');
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => eve.signIn({ email: `flood-${i}@example.com`, password })),
    );
    assert.equal(countOf(answers, 401), 20);
    assert.equal(countOf(answers, 429), 80);
    // One row for the e-mail, one for the e-mail and the address.
    assert.equal((await rowsOf(limited, 'sign_in_throttle')) - before, 40);
  });

  test('a sign-in deletes the two rows of its own guesses and no others', async () => {
    const email = 'clears-own@example.com';
    const ada = from(app, '192.0.2.61');
    assert.equal((await ada.signUp({ email, password })).status, 201);
    await app.db.database.query(
      `insert into sign_in_throttle select ('\\x' || md5(n::text))::bytea, 1, '2020-01-01', '2020-01-01'
       from generate_series(1, 3000) n`,
    );
    await app.db.database.query(
      `insert into session (hash, person_id, account_id, address, created_at, last_seen_at, expires_at)
       select ('\\x' || md5(n::text))::bytea, p.id, m.account_id, '', '2020-01-01', '2020-01-01', '2020-01-01'
       from generate_series(1, 3000) n, person p join member m on m.person_id = p.id where email = $1`,
      [email],
    );
    const sessions = await rowsOf(app, 'session');
    const tries = await rowsOf(app, 'sign_in_throttle');
    assert.equal((await ada.signIn({ email, password: 'wrong' })).status, 401);
    assert.equal(await rowsOf(app, 'sign_in_throttle'), tries + 2);
    assert.equal((await ada.signIn({ email, password })).status, 201);
    assert.equal(await rowsOf(app, 'sign_in_throttle'), tries);
    assert.equal(await rowsOf(app, 'session'), sessions + 1);
  });
});
