import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../test/support/clock.ts';
import { longAgo } from '../../test/support/limiter-model.ts';
import { createAddressWindows } from './address-windows.ts';
import { chargeOncePerCredential, credentialKey } from './credential-charges.ts';

const limits = { perMinute: 3, burst: 3 };
const home = '198.51.100.7';

function createWindows() {
  const clock = createTestClock();
  const windows = chargeOncePerCredential(createAddressWindows({ clock }), clock);
  const charge = (credential?: string, address = home) =>
    windows.decide(credential === undefined ? address : credentialKey(address, credential), limits, longAgo);
  return { clock, windows, charge };
}

test('a credential charges its address once a minute, and the address has what is left', () => {
  const { clock, windows, charge } = createWindows();
  for (let turn = 0; turn < 100; turn++) assert.equal(charge('one').admitted, true);
  assert.equal(windows.peek(home, limits).remaining, 2);
  clock.advance(59_999);
  assert.equal(charge('one').chargedAtMs, undefined, 'it has paid');
  clock.advance(1);
  assert.notEqual(charge('one').chargedAtMs, undefined, 'it pays again');
});

test('one that paid is let in while its address has nothing left, another is not', () => {
  const { charge } = createWindows();
  assert.equal(charge('one').admitted, true);
  while (charge().admitted);
  assert.equal(charge('one').admitted, true);
  assert.equal(charge('two').admitted, false);
  assert.equal(charge('two').admitted, false, 'a refusal pays for nothing');
  assert.equal(charge('one', '198.51.100.8').remaining, 2, 'each address is charged');
});
