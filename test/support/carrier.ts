import assert from 'node:assert/strict';
import type { TestDeveloper } from './developer.ts';
import { eventually } from './eventually.ts';

const path = '/portal/v1/operator/carriers';

/** Connects a carrier on a loopback port as an operator does, and waits until it is up. */
export async function connectCarrier(
  operator: TestDeveloper,
  port: number,
  settings: Record<string, unknown> = {},
  name = 'practice',
): Promise<void> {
  const account = { host: '127.0.0.1', port, system_id: 'me', password: 'secret' };
  const answer = await operator.send('POST', path, { name, kind: 'smpp', settings: { ...account, ...settings } });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  await eventually('the carrier to be up', async () => {
    return (await operator.send<{ state: string }>('GET', `${path}/${name}`)).body.state === 'up';
  });
}

/** Deletes it, whatever waits for it. Its binds are closed soon after. */
export async function deleteCarrier(operator: TestDeveloper, name = 'practice'): Promise<void> {
  await operator.send('DELETE', `${path}/${name}?force=true`);
}
