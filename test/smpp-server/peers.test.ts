// Peers that do harm: silent, slow, deaf, or of another protocol. None of them disturbs the others.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { encodePdu } from '../../src/smpp/encode.ts';
import { connectRaw, textTo } from '../smpp/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { bound, createSmppCaller, createSmppWorld, type SmppWorld } from './world.ts';

describe('peers that do harm', () => {
  let world: SmppWorld;
  before(async () => {
    world = await createSmppWorld({
      delivery: 'held',
      env: { HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}' },
    });
  });
  after(() => world.close());

  test('one that does not bind is cut off after 5 s', async () => {
    const client = await connectRaw(world.port);
    world.app.clock.advance(5000);
    await client.closed();
  });

  test('a bind has no such deadline, is probed when it is silent, and cut off when it does not answer', async () => {
    const [lively, dead] = [await bound(world, await createSmppCaller(world.app)), await bound(world, world.caller)];
    world.app.clock.advance(60_000);
    for (const client of [lively, dead]) {
      const probe = await client.take('enquire_link');
      if (client === lively) client.send({ command: 'enquire_link_resp', status: 0, sequence: probe.sequence });
    }
    await eventually('the answer is read', async () => (await lively.submit()).status === 0);
    world.app.clock.advance(10_000);
    await dead.closed();
    assert.equal((await lively.submit()).status, 0);
    lively.close();
  });

  test('one that begins a PDU and does not end it is cut off after 10 s', async () => {
    const client = await bound(world, world.caller);
    client.sendOctets(Buffer.from('0000004000000004', 'hex'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    world.app.clock.advance(10_000);
    await client.closed();
  });

  test('octets that are no SMPP end the connection', async () => {
    for (const octets of [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.alloc(16, 0xff),
      Buffer.from('0000000500000004', 'hex'),
      Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 0]),
    ]) {
      const client = await connectRaw(world.port);
      client.sendOctets(octets);
      await client.closed();
    }
  });

  test('a PDU with a damaged body is refused, and the bind goes on', async () => {
    const client = await bound(world, world.caller);
    const whole = encodePdu({ command: 'submit_sm', status: 0, sequence: 5, ...textTo('447700900123') });
    const cut = Buffer.from(whole.subarray(0, 40));
    cut.writeUInt32BE(cut.length, 0);
    client.sendOctets(cut);
    assert.equal((await client.take('submit_sm_resp')).status, 0x02);
    const long = Buffer.from(whole);
    long[whole.length - 6] = 200;
    client.sendOctets(long);
    assert.equal((await client.take('submit_sm_resp')).status, 0x01);
    assert.equal((await client.submit()).status, 0);
    client.close();
  });

  for (const leaves of [false, true])
    test(`one that does not read its answers${leaves ? ', and leaves,' : ''} is cut off, without harm to others`, () =>
      cutsOff(leaves));

  async function cutsOff(leaves: boolean): Promise<void> {
    const deaf = await createSmppCaller(world.app);
    const other = await bound(world, world.caller);
    const socket = connect({ port: world.port, host: '127.0.0.1' });
    let isClosed = false;
    socket.on('close', () => {
      isClosed = true;
    });
    socket.on('error', () => {});
    const { system_id: systemId, password } = deaf.account;
    const who = { systemId, password, systemType: '', interfaceVersion: 0x34, addressTon: 0, addressNpi: 0 };
    socket.write(encodePdu({ command: 'bind_transceiver', status: 0, sequence: 1, ...who, addressRange: '' }));
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    const probes = Buffer.concat(
      Array.from({ length: 4000 }, (_, index) =>
        encodePdu({ command: 'enquire_link', status: 0, sequence: index + 1 }),
      ),
    );
    let stuck = 0;
    await eventually('answers fill the buffers of both sides, and the service reads no more', () => {
      stuck = socket.writableNeedDrain ? stuck + 1 : 0;
      if (stuck === 0) socket.write(probes);
      return stuck > 10 || isClosed;
    });
    assert.equal((await other.submit()).status, 0, 'others are answered');
    if (leaves) {
      socket.write(encodePdu({ command: 'unbind', status: 0, sequence: 9999 }));
      socket.end();
    }
    world.app.clock.advance(10_000);
    await eventually('it is cut off', () => isClosed);
    assert.equal((await other.submit()).status, 0);
    other.close();
  }

  test('connections that do not bind are bounded for an address', async () => {
    const sockets = Array.from({ length: 80 }, () => connect({ port: world.port, host: '127.0.0.1' }));
    let closed = 0;
    for (const socket of sockets) socket.on('close', () => closed++).on('error', () => {});
    await eventually('those above the bound are closed', () => closed === 30);
    for (const socket of sockets) socket.destroy();
    await eventually('all are gone', () => closed === 80);
    const client = await bound(world, world.caller);
    client.close();
  });
});
