// A thief has the password of an operator who has no second factor yet, or works beside one as a second operator. Neither
// may get at the other's rights: by enrolling a factor, by turning one off, or by a reset link from the portal.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { minuteMs } from '../../src/platform/clock.ts';
import { welcome } from '../../src/welcome.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { asDeveloper, send, signUp, type TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';
import { authenticator, factorPath, setUpFactor } from '../support/second-factor.ts';

const password = 'another sentence, known to no one';
const registrations = '/portal/v1/operator/registrations';
const confirmPath = `${factorPath}/confirm`;

let app: TestApp;
before(async () => {
  app = await createTestApp({ env: { HELIOGRAPH_ENV: 'production' }, delivery: 'held' });
});
after(() => app.close());

/** An operator who has used a link of `npm run operator` and has done nothing else yet. */
async function useOperatorLink(email: string, on = app): Promise<TestDeveloper> {
  const token = await on.app.people.createLink(email, { makesOperator: true });
  const answer = await send(on, 'POST', '/portal/v1/password-resets', { body: { token, password } });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return asDeveloper(on, email, password, answer);
}

async function signIn(email: string, on = app): Promise<TestDeveloper> {
  const answer = await send(on, 'POST', '/portal/v1/sessions', { body: { email, password } });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return asDeveloper(on, email, password, answer);
}

const begin = (person: TestDeveloper) =>
  person.send<{ secret: string; message: string }>('POST', factorPath, { current_password: password });

describe('an operator without a second factor, in production', () => {
  test('is refused by operators’ routes, and the refusal says what to do', async () => {
    const operator = await useOperatorLink('fresh@example.com');
    const refused = await operator.send('GET', registrations);
    assert.equal(refused.status, 403);
    assert.match(String(refused.body.message), /second factor.*operator.*15 minutes/s);
    const { countRefusedOperators } = app.app.people;
    const refusedOperators = await countRefusedOperators();
    assert.equal(refusedOperators, 1);
    const options = { version: '0', config: app.config, made: undefined, paths: [], carriers: ['acme'] };
    assert.match(welcome({ ...options, refusedOperators }), /WITHOUT A SECOND FACTOR: 1\..*npm run operator/s);
    assert.doesNotMatch(welcome(options), /SECOND FACTOR/);
    await setUpFactor(operator, app.clock);
    assert.equal((await operator.send('GET', registrations)).status, 200);
    assert.equal(await countRefusedOperators(), 0);
  });

  test('a stolen password cannot enrol the thief’s factor', async () => {
    await useOperatorLink('robbed@example.com');
    const thief = await signIn('robbed@example.com');
    const refused = await begin(thief);
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /link.*machine/s);
    assert.equal((await thief.send('POST', confirmPath, { code: '123456' })).status, 403);
    assert.equal((await thief.send('GET', registrations)).status, 403);
  });

  test('the session of the link may set one up for 15 minutes, and confirms it within them', async () => {
    const operator = await useOperatorLink('slow@example.com');
    const shown = async () =>
      (await operator.send<{ second_factor: Record<string, unknown> }>('GET', '/portal/v1/me')).body.second_factor;
    assert.equal((await shown()).can_set_up, true);
    app.clock.advance(15 * minuteMs - 1000);
    const begun = await begin(operator);
    assert.equal(begun.status, 201);
    const code = authenticator(begun.body.secret, app.clock);
    app.clock.advance(1001);
    assert.equal((await operator.send('POST', confirmPath, { code: code() })).status, 403);
    assert.equal((await begin(operator)).status, 403);
    assert.deepEqual(await shown(), {
      ...{ enabled: false, recovery_codes_left: 0, required: true, can_set_up: false, set_up_until: null },
    });
    const again = await useOperatorLink('slow@example.com');
    await setUpFactor(again, app.clock);
  });

  test('a secret that a thief began before the person became an operator is worth nothing', async () => {
    const ada = await signUp(app);
    const body = { current_password: ada.password };
    const begun = await ada.send<{ secret: string }>('POST', factorPath, body);
    const thief = ada;
    await useOperatorLink(ada.email);
    const code = authenticator(begun.body.secret, app.clock);
    assert.equal((await thief.send('POST', confirmPath, { code: code() })).status, 401);
  });
});

describe('turning it off', () => {
  test('asks for a code beside the password, and is refused to operators where one is required', async () => {
    const operator = await createOperator(app, 'steady@example.com');
    app.clock.advance(minuteMs);
    const off = (body: object) => operator.send('POST', `${factorPath}/remove`, body);
    const asked = await off({ current_password: password });
    assert.deepEqual([asked.status, (asked.body.details as { field: string }[])[0]?.field], [400, 'code']);
    const refused = await off({ current_password: password, code: operator.factor?.code() });
    assert.equal(refused.status, 409);
    assert.match(String(refused.body.message), /replace/i);
    assert.equal((await operator.send('GET', registrations)).status, 200);
  });

  test('where it is asked for only, an operator turns it off by a code, and enrols again by a link of the machine', async () => {
    const env = { HELIOGRAPH_ENV: 'production', HELIOGRAPH_OPERATOR_SECOND_FACTOR: 'asked' };
    const lenient = await createTestApp({ env, delivery: 'held' });
    try {
      const operator = await useOperatorLink('asked@example.com', lenient);
      assert.equal((await operator.send('GET', registrations)).status, 200);
      const { code } = await setUpFactor(operator, lenient.clock);
      lenient.clock.advance(15 * minuteMs);
      const off = (given: string) =>
        operator.send('POST', `${factorPath}/remove`, { current_password: password, code: given });
      assert.equal((await off('000000')).status, 400);
      assert.equal((await off(code())).status, 204);
      const thief = await signIn('asked@example.com', lenient);
      assert.equal((await begin(thief)).status, 403);
    } finally {
      await lenient.close();
    }
  });

  test('replacing it takes a code of the old one and a code of the new one; the old one is dead then', async () => {
    const operator = await createOperator(app, 'new-phone@example.com');
    const old = operator.factor ?? assert.fail('it has one');
    app.clock.advance(minuteMs);
    assert.equal((await begin(operator)).status, 400, 'the password alone');
    const body = { current_password: password, code: old.code() };
    const begun = await operator.send<{ secret: string }>('POST', factorPath, body);
    assert.equal(begun.status, 201, JSON.stringify(begun.body));
    assert.equal((await operator.send('GET', registrations)).status, 200, 'the old one counts until then');
    const code = authenticator(begun.body.secret, app.clock);
    assert.equal((await operator.send('POST', confirmPath, { code: old.code(1) })).status, 400);
    const confirmed = await operator.send<{ recovery_codes: string[] }>('POST', confirmPath, { code: code() });
    assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body));
    assert.equal(confirmed.body.recovery_codes.length, 10);
    app.clock.advance(minuteMs);
    const complete = async (given: string) => {
      const asked = await send(app, 'POST', '/portal/v1/sessions', { body: { email: operator.email, password } });
      const answer = { challenge: asked.body.challenge, code: given };
      return (await send(app, 'POST', '/portal/v1/sessions/second-factor', { body: answer })).status;
    };
    assert.deepEqual(
      [await complete(old.code()), await complete(old.recovery[0] ?? ''), await complete(code())],
      [400, 400, 201],
    );
  });

  test('a replacement that is not confirmed within 15 minutes is forgotten', async () => {
    const operator = await createOperator(app, 'forgets@example.com');
    app.clock.advance(minuteMs);
    const body = { current_password: password, code: operator.factor?.code() };
    const begun = await operator.send<{ secret: string }>('POST', factorPath, body);
    const code = authenticator(begun.body.secret, app.clock);
    app.clock.advance(15 * minuteMs + 1);
    assert.equal((await operator.send('POST', confirmPath, { code: code() })).status, 409);
  });
});

describe('reset links of operators', () => {
  const accounts = '/portal/v1/operator/accounts';
  const meOf = async (person: TestDeveloper) =>
    (await person.send<{ id: string; person_id: string }>('GET', '/portal/v1/me')).body;

  test('another operator cannot make one in the portal', async () => {
    const one = await createOperator(app, 'one@example.com');
    const { id, person_id } = await meOf(await createOperator(app, 'two@example.com'));
    const refused = await one.send('POST', `${accounts}/${id}/reset-link`, { person_id });
    assert.equal(refused.status, 409);
    assert.match(String(refused.body.message), /machine/);
    const { body } = await one.send<{ people: { operator: boolean }[] }>('GET', `${accounts}/${id}`);
    assert.equal(body.people[0]?.operator, true);
  });

  test('a link that the portal made before the person became an operator is dead', async () => {
    const one = await createOperator(app, 'maker@example.com');
    const ada = await signUp(app);
    const { id, person_id } = await meOf(ada);
    const made = await one.send<{ link: string }>('POST', `${accounts}/${id}/reset-link`, { person_id });
    const token = made.body.link.split('/').at(-1);
    // As if it had been made while the operator link was being used, which deletes the others.
    await app.db.database.query('update person set operator = true where id = $1', [person_id]);
    for (const path of ['password-resets', 'password-resets/look']) {
      const used = await send(app, 'POST', `/portal/v1/${path}`, { body: { token, password } });
      assert.equal(used.status, 400, path);
    }
    assert.equal((await ada.send('GET', '/portal/v1/me')).status, 200, 'and nothing has happened');
  });
});
