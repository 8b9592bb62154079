// The guard's rules that a file sets, on the nodes of a running service.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createDeclaredFiles, type DeclaredFiles } from '../support/declared.ts';
import { createOperator } from '../support/operator.ts';
import { createVerifyCaller, type VerifyCaller } from '../support/verify-caller.ts';

const env = { HELIOGRAPH_GUARD: '{"countries":["GB","DE"]}' };

let app: TestApp;
let second: TestApp;
let callers: VerifyCaller[];
let files: DeclaredFiles;
before(async () => {
  app = await createTestApp({ env, delivery: 'held' });
  second = await createTestApp({ env, delivery: 'held', db: app.db, clock: app.clock });
  const caller = await createVerifyCaller(app);
  callers = [caller, await createVerifyCaller(second, caller)];
  files = await createDeclaredFiles(app);
});
after(async () => {
  await files.remove();
  await second.close();
  await app.close();
});

let numbers = 0;
const newNumber = (start: string) => `${start}${String(++numbers).padStart(4, '0')}`;
const british = '+44770091';
const french = '+3361234';

/** Why a start of a new number is blocked on each node. */
async function reasons(start = british): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const caller of callers) found.push((await caller.start({ to: newNumber(start) })).body.reason);
  return found;
}

test('a rule acts on every node when apply has ended, and is gone again the same way', async () => {
  assert.deepEqual(await reasons(), [null, null]);
  assert.deepEqual(await reasons(french), ['country_not_allowed', 'country_not_allowed']);
  for (let round = 0; round < 3; round++) {
    await files.apply({ guard: { blocked: ['+447700'] } });
    assert.deepEqual(await reasons(), ['block_list', 'block_list'], `round ${round}`);
    await files.apply({ guard: { blocked: null, countries: ['gb', 'FR'] } });
    assert.deepEqual(await reasons(), [null, null], `round ${round}`);
    assert.deepEqual(await reasons(french), [null, null], 'it replaces the rule of the settings');
    await files.apply({ guard: { countries: null } });
    assert.deepEqual(await reasons(french), ['country_not_allowed', 'country_not_allowed']);
  }
});

test('a limit that is set counts exactly among starts that arrive together', async () => {
  await files.apply({ guard: { per_prefix: 5 } });
  const starts = await Promise.all(
    Array.from({ length: 24 }, (_, index) => callers[index % 2]?.start({ to: newNumber('+4915112349') })),
  );
  const found = starts.map((start) => start?.body.reason);
  assert.equal(found.filter((reason) => reason === null).length, 5);
  assert.equal(found.filter((reason) => reason === 'prefix_velocity').length, 19);
  await files.apply({ guard: { per_prefix: null } });
  assert.deepEqual(await reasons('+4915112349'), [null, null]);
});

test('operators and explanations see the rules that are in force', async () => {
  await files.apply({ guard: { per_number: 3 } });
  const limitIn = (rules: { rule: string; limit: unknown }[]) =>
    rules.find(({ rule }) => rule === 'destination_limit')?.limit;
  const operator = await createOperator(second);
  const path = '/portal/v1/operator/guard-rules';
  const { body } = await operator.send<{ data: { rule: string; limit: unknown }[] }>('GET', path);
  assert.equal(limitIn(body.data), 3);
  const explained = await callers[1]?.send<{ rules: { rule: string; limit: unknown }[] }>(
    'POST',
    '/verify/v1/guard/explain',
    { to: '+447700900123' },
  );
  assert.equal(limitIn(explained?.body.rules ?? []), 3);
});
