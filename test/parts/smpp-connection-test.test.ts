// The steps of a carrier's test that need only a connection, against an SMSC that does what each test says.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isAllowedAddress } from '../../src/delivery/carrier/address.ts';
import type { TestStep } from '../../src/delivery/carrier/test-store.ts';
import { readSettings } from '../../src/delivery/setup/settings.ts';
import { testConnection } from '../../src/delivery/smpp/connection-test.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { BindCommand, Pdu } from '../../src/smpp/pdu.ts';
import { createCertificate } from '../support/certificates.ts';
import { type Script, startScriptedSmsc, usualAnswer } from '../support/scripted-smsc.ts';

const testCertificate = createCertificate({ name: 'carrier.test' });

interface Given {
  script?: Script;
  serverTls?: boolean;
  settings?: Record<string, unknown>;
}

async function tryWith({ script, serverTls, settings = {} }: Given = {}) {
  const smsc = await startScriptedSmsc(script, serverTls ? testCertificate : undefined);
  const steps: TestStep[] = [];
  const passed = await testConnection({
    settings: readSettings({ host: '127.0.0.1', port: smsc.port, system_id: 'me', password: 'secret', ...settings }),
    clock: systemClock,
    isAllowedAddress: isAllowedAddress('sandbox'),
    onStep: async (step) => void steps.push(step),
  });
  const binds = smsc.peers.flatMap(({ received }) => received).filter(isBind);
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

type Bind = Pdu & { command: BindCommand };
const isBind = (pdu: Pdu): pdu is Bind => /^bind_(receiver|transmitter|transceiver)$/.test(pdu.command);
const kinds = (binds: Bind[]) => binds.map(({ command }) => command);

/** Refuses these binds with this status. */
const refusing =
  (status: number, ...commands: string[]): Script =>
  (pdu, peer) => {
    if (!isBind(pdu) || !commands.includes(pdu.command)) return false;
    peer.send({ ...(usualAnswer(pdu, '') as Pdu), status });
    return true;
  };

describe('the connection of a carrier', () => {
  test('name, connection, TLS, bind; then it unbinds', async () => {
    const { told, binds, unbinds } = await tryWith();
    assert.deepEqual(told, ['name ok', 'connection ok', 'tls ok', 'bind ok']);
    assert.deepEqual([binds[0]?.systemId, binds[0]?.password, unbinds.length], ['me', 'secret', 1]);
    assert.deepEqual(kinds(binds), ['bind_transceiver'], 'it binds as the carrier does');
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

  test('a wrong password is reported', async () => {
    const { told, last, binds } = await tryWith({ script: refusing(0x0e, 'bind_transceiver') });
    assert.deepEqual(told, ['name ok', 'connection ok', 'tls ok', 'bind failed']);
    assert.match(last, /wrong password\)\.$/);
    assert.equal(binds.length, 1);
  });

  test('a pair, where both must be bound', async () => {
    const { told, last, binds } = await tryWith({ settings: { bind: 'pair' } });
    assert.deepEqual(told.at(-1), 'bind ok');
    assert.deepEqual(kinds(binds), ['bind_transmitter', 'bind_receiver']);
    assert.match(last, /accepted the binds of a transmitter and of a receiver/);
    const half = await tryWith({ settings: { bind: 'pair' }, script: refusing(0x0d, 'bind_receiver') });
    assert.deepEqual(half.told.at(-1), 'bind failed');
    assert.match(half.last, /The transmitter was bound, the receiver was not: .*bind failed/);
  });

  test('a carrier of transceivers alone, with bind: pair', async () => {
    const script = refusing(0x04, 'bind_transmitter', 'bind_receiver');
    const { told, last } = await tryWith({ script, settings: { bind: 'pair' } });
    assert.deepEqual(told.at(-1), 'bind failed');
    assert.match(last, /0x00000004.* If the carrier takes only transceivers, set bind to transceiver\./);
  });

  test('a carrier without transceivers: the pair that it takes passes, and both ways refused do not', async () => {
    for (const script of [refusing(0x03, 'bind_transceiver'), refusing(0x0d, 'bind_transceiver')]) {
      const { told, last, binds } = await tryWith({ script });
      assert.deepEqual(told, ['name ok', 'connection ok', 'tls ok', 'bind ok']);
      assert.deepEqual(kinds(binds), ['bind_transceiver', 'bind_transmitter', 'bind_receiver']);
      assert.match(last, /takes no transceiver, so set bind to pair/);
    }
    const script = refusing(0x0d, 'bind_transceiver', 'bind_transmitter', 'bind_receiver');
    const { told, last } = await tryWith({ script });
    assert.deepEqual(told.at(-1), 'bind failed');
    assert.match(last, /bind failed\)\. If the carrier takes no transceivers, set bind to pair\./);
  });

  test('a peer that closes, or that speaks something else', async () => {
    const closes: Script = (_, peer) => {
      peer.end();
      return true;
    };
    assert.match((await tryWith({ script: closes })).last, /closed the connection\. If its port is for TLS, set tls\./);
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
