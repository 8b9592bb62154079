// docs/integrations/kratos.md: the template makes of each message of Kratos what the hook reads.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createHookWorld, type HookWorld, kratosCodes, kratosContext } from '../hooks/world.ts';
import { integrationSamples } from '../support/integration-samples.ts';
import { runTemplate } from './jsonnet.ts';

let world: HookWorld;
before(async () => {
  world = await createHookWorld();
});
after(() => world.close());

const template = integrationSamples.get('kratos-sms.jsonnet') ?? '';

test('each code goes out, without the traits of the person; a message without a code as a text', async () => {
  const hook = await world.create({ kind: 'kratos', from: 'ACME' });
  const call = async (ctx: object) => {
    const body = runTemplate(template, ctx);
    assert.doesNotMatch(body, /traits|self-service/);
    return (await world.post(hook, body, { authorization: `Bearer ${hook.secret}` })).status;
  };
  for (const [index, type] of (Object.keys(kratosCodes) as (keyof typeof kratosCodes)[]).entries()) {
    const to = world.newNumber();
    assert.equal(await call(kratosContext(to, type, `77110${index}`)), 200, type);
    assert.match((await world.codes(to, 1))[0] ?? '', new RegExp(`77110${index}`));
  }
  const to = world.newNumber();
  const { template_data, ...notice } = kratosContext(to, 'login_code_valid', '1');
  const { login_code, ...data } = template_data as Record<string, unknown>;
  const added = { ...notice, template_type: 'authenticator_key_added', template_data: data, body: 'A key was added.' };
  assert.equal(await call(added), 200);
  assert.deepEqual(await world.codes(to, 1), ['A key was added.']);
  assert.equal(login_code, '1');
});
