// A thief with the session of a person confirms a second factor in the moment in which the person becomes an operator by a
// link of the machine. Either the factor comes first, and the link asks for its code; or the link does, and ends the session.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { asDeveloper, send, signUp } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { authenticator, factorPath } from '../support/second-factor.ts';

const rounds = inShort(8, 60);
const password = 'another sentence, known to no one';

let app: TestApp;
before(async () => {
  app = await createTestApp({ manyConnections: true, env: { HELIOGRAPH_ENV: 'production' }, delivery: 'held' });
});
after(() => app.close());

test('a sign-in that is on its way when a second factor is turned on opens no session without it', async () => {
  const { email, password: known } = await signUp(app);
  const { database } = app.db;
  const signingIn = await database.transaction(async (tx) => {
    // As a confirmation does it: the person is locked, then the factor is on, then all other sessions end.
    const { rows } = await tx.query<{ id: string }>('select id from person where email = $1 for no key update', [
      email,
    ]);
    const id = rows[0]?.id;
    const began = { answer: send(app, 'POST', '/portal/v1/sessions', { body: { email, password: known } }) };
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await eventually('the sign-in waits for the lock', async () => (await database.query(waiting)).count > 0);
    await tx.query(
      `insert into second_factor (person_id, secret, last_step, created_at, confirmed_at) values ($1, '', 0, now(), now())`,
      [id],
    );
    await tx.query('delete from session where person_id = $1', [id]);
    return began;
  });
  assert.equal((await signingIn.answer).status, 202);
});

test(`no operator is left with a thief's second factor and a session without it, ${rounds} times`, async () => {
  for (let round = 0; round < rounds; round++) {
    const thief = await signUp(app);
    const begun = await thief.send<{ secret: string }>('POST', factorPath, { current_password: thief.password });
    const code = authenticator(begun.body.secret, app.clock)();
    const token = await app.app.people.createLink(thief.email, { makesOperator: true });
    const using = send(app, 'POST', '/portal/v1/password-resets', { body: { token, password } });
    // The link hashes a password first, so the code is sent a little later in each round, to meet the end of that.
    for (let waits = 0; waits < round % 8; waits++) await send(app, 'GET', '/portal/v1/service');
    const confirmed = await thief.send('POST', `${factorPath}/confirm`, { code });
    const used = await using;
    assert.ok([200, 401].includes(confirmed.status), `confirm: ${confirmed.status}`);
    assert.equal(used.status, confirmed.status === 200 ? 202 : 201, `the link, after ${confirmed.status}`);
    assert.equal((await thief.send('GET', '/portal/v1/me')).status, 401, 'the thief is out');
    if (used.status !== 201) continue;
    const operator = asDeveloper(app, thief.email, password, used);
    const { body } = await operator.send<{ second_factor: object }>('GET', '/portal/v1/me');
    assert.deepEqual(
      { ...body.second_factor, set_up_until: null },
      {
        ...{ enabled: false, recovery_codes_left: 0, required: true, can_set_up: true, set_up_until: null },
      },
    );
  }
});
