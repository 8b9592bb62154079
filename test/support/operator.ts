import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';
import { asDeveloper, send, type TestDeveloper } from './developer.ts';
import { setUpFactor, type TestFactor } from './second-factor.ts';

export interface TestOperator extends TestDeveloper {
  /** Set where the service requires one. */
  factor: TestFactor | undefined;
}

/** An operator who is signed in, and has a second factor where the service requires one. */
export async function createOperator(app: TestApp, email = 'operator@example.com'): Promise<TestOperator> {
  const token = await app.app.people.createLink(email, { makesOperator: true });
  const password = 'another sentence, known to no one';
  const answer = await send(app, 'POST', '/portal/v1/password-resets', { body: { token, password } });
  assert.equal(answer.status, 201);
  const operator = asDeveloper(app, email, password, answer);
  const isRequired = app.config.operatorSecondFactor === 'required';
  return { ...operator, factor: isRequired ? await setUpFactor(operator, app.clock) : undefined };
}

/** Approves every registration that waits. */
export async function approveAll(operator: TestDeveloper): Promise<void> {
  const waiting = '/portal/v1/operator/registrations';
  const { body } = await operator.send<{ data: { id: string }[] }>('GET', waiting);
  for (const { id } of body.data) assert.equal((await operator.send('POST', `${waiting}/${id}/approve`)).status, 200);
}
