import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { settingsWith } from '../../../test/support/smpp-settings.ts';
import type { ConfiguredSmppCarrier } from '../smpp/carrier.ts';
import { type SmppSettings, smppSettingsSchema } from '../smpp/settings.ts';
import { isOver } from './change.ts';

const configured = (settings: Partial<SmppSettings> = {}): ConfiguredSmppCarrier => ({
  id: 1,
  key: 'acme#1',
  account: '1.0',
  name: 'acme',
  kind: 'smpp',
  settings: settingsWith(settings),
  callbackToken: null,
  version: 1,
  generation: 0,
  paused: false,
  logWantedAtMs: null,
  tryWantedAtMs: null,
  testWaiting: false,
});

describe('a changed carrier is started anew', () => {
  test('for what a session is connected and bound with, and for no other setting', () => {
    const anew = Object.keys(smppSettingsSchema.properties).filter((name) =>
      isOver(configured(), configured({ [name]: 'another' })),
    );
    assert.deepEqual(
      new Set(anew),
      new Set([
        ...['host', 'port', 'hosts', 'local_address', 'tls'],
        ...['system_id', 'password', 'system_type', 'address_range', 'bind'],
      ]),
    );
  });

  test('for another account, and when it is gone; not for a pause', () => {
    assert.ok(isOver(configured(), { ...configured(), account: '1.1' }));
    assert.ok(isOver(configured(), undefined));
    assert.equal(isOver(configured(), { ...configured(), paused: true, version: 2 }), false);
  });

  test('the same certificates, read anew, are no change', () => {
    const tls = { ca: 'one', servername: 'smsc.test' };
    assert.equal(isOver(configured({ tls }), configured({ tls: { ...tls } })), false);
    assert.ok(isOver(configured({ tls }), configured({ tls: { ...tls, ca: 'two' } })));
  });
});
