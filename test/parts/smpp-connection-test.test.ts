// The steps of a carrier's test that need only a connection, against an SMSC that does what each test says.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isAllowedAddress } from '../../src/delivery/carrier-address.ts';
import { readSettings } from '../../src/delivery/carrier-settings.ts';
import type { TestStep } from '../../src/delivery/carrier-test-store.ts';
import { testConnection } from '../../src/delivery/smpp/connection-test.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createCertificate } from '../support/certificates.ts';
import { type Script, startScriptedSmsc } from '../support/scripted-smsc.ts';

const testCertificate = createCertificate({ name: 'carrier.test' });

interface Given {
  script?: Script;
  serverTls?: boolean;
  settings?: Record<string, unknown>;
  isBound?: boolean;
}

async function tryWith({ script, serverTls, settings = {}, isBound = false }: Given = {}) {
  const smsc = await startScriptedSmsc(script, serverTls ? testCertificate : undefined);
  const steps: TestStep[] = [];
  const passed = await testConnection({
    settings: readSettings({ host: '127.0.0.1', port: smsc.port, system_id: 'me', password: 'secret', ...settings }),
    clock: systemClock,
    isAllowedAddress: isAllowedAddress('sandbox'),
    isBound: () => isBound,
    onStep: async (step) => void steps.push(step),
  });
  const binds = smsc.ledger('bind_transmitter');
  const unbinds = smsc.ledger('unbind');
  await smsc.close();
  assert.equal(passed, steps.every(({ ok }) => ok) && steps.length === 4, 'it passes if all four steps do');
  assert.ok(
    steps.every(({ tookMs }) => tookMs >= 0),
    'each took its time',
  );
  return {
    told: steps.map(({ step, ok }) => `${step} ${ok ? 'ok' : 'failed'}`),
    last: steps.at(-1)?.detail ?? '',
    binds,
    unbinds,
  };
}

describe('the connection of a carrier', () => {
  test('name, connection, TLS, bind; then it unbinds', async () => {
    const { told, binds, unbinds } = await tryWith();
    assert.deepEqual(told, ['name ok', 'connection ok', 'tls ok', 'bind ok']);
    assert.deepEqual([binds[0]?.systemId, binds[0]?.password, unbinds.length], ['me', 'secret', 1]);
  });

  test('over TLS', async () => {
    const tls = { ca: testCertificate.cert, servername: 'carrier.test' };
    const { told } = await tryWith({ serverTls: true, settings: { tls } });
    assert.deepEqual(told, ['name ok', 'connection ok', 'tls ok', 'bind ok']);
  });

  test('a certificate that cannot be trusted: the password is not sent', async () => {
    const { told, last, binds } = await tryWith({ serverTls: true, settings: { tls: { servername: 'carrier.test' } } });
    assert.deepEqual(told, ['name ok', 'connection ok', 'tls failed']);
    assert.match(last, /unknown CA/);
    assert.equal(binds.length, 0);
  });

  test('a wrong password', async () => {
    const script: Script = (pdu, peer) => {
      if (pdu.command !== 'bind_transmitter') return false;
      peer.send({ command: 'bind_transmitter_resp', status: 0x0e, sequence: pdu.sequence, systemId: '', tlvs: [] });
      return true;
    };
    const { told, last } = await tryWith({ script });
    assert.deepEqual(told, ['name ok', 'connection ok', 'tls ok', 'bind failed']);
    assert.match(last, /wrong password/);
  });

  test('a carrier that is bound and allows no more binds is in order', async () => {
    const script: Script = (pdu, peer) => {
      if (pdu.command !== 'bind_transmitter') return false;
      peer.send({ command: 'bind_transmitter_resp', status: 0x05, sequence: pdu.sequence, systemId: '', tlvs: [] });
      return true;
    };
    assert.deepEqual((await tryWith({ script })).told.at(-1), 'bind failed');
    const { told, last } = await tryWith({ script, isBound: true });
    assert.deepEqual(told.at(-1), 'bind ok');
    assert.match(last, /already bound.*allows no more binds/);
  });

  test('a peer that closes, or that speaks something else', async () => {
    const closes: Script = (_, peer) => {
      peer.end();
      return true;
    };
    assert.match((await tryWith({ script: closes })).last, /closed the connection/);
    const speaksHttp: Script = (_, peer) => {
      peer.sendOctets(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
      return true;
    };
    const { told, last } = await tryWith({ script: speaksHttp });
    assert.deepEqual(told.at(-1), 'bind failed');
    assert.match(last, /HTTP/);
  });

  test('an address that refuses connections', async () => {
    const { told, last } = await tryWith({ settings: { port: 1 } });
    assert.deepEqual(told, ['name ok', 'connection failed']);
    assert.match(last, /refuses connections/);
  });

  test('a name without an address, and an address that is not on this machine', async () => {
    const nowhere = await tryWith({ settings: { host: 'nowhere.invalid' } });
    assert.deepEqual(nowhere.told, ['name failed']);
    const elsewhere = await tryWith({ settings: { host: '192.0.2.1' } });
    assert.deepEqual(elsewhere.told, ['name failed']);
    assert.match(elsewhere.last, /not allowed here/);
  });
});
