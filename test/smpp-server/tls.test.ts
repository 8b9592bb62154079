import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { systemClock } from '../../src/platform/clock.ts';
import { createSession } from '../../src/smpp/session.ts';
import { connectRaw, textTo } from '../smpp/raw-client.ts';
import { createRegistered } from '../support/applications.ts';
import { createCertificate } from '../support/certificates.ts';
import { register } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { approveAll } from '../support/operator.ts';
import { createProduction, type Production } from '../support/production.ts';
import { createAccount, credentialsOf, type SmppCaller } from './world.ts';

describe('TLS, and the plain port in production', () => {
  let production: Production;
  let folder: string;
  const ca = createCertificate({ name: 'Test CA', isCa: true });
  const own = createCertificate({ name: 'localhost', issuer: ca });
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'heliograph-smpp-'));
    writeFileSync(join(folder, 'cert.pem'), own.cert);
    writeFileSync(join(folder, 'key.pem'), own.key);
    production = await createProduction({
      env: {
        HELIOGRAPH_SMPP_PORT: '2775',
        HELIOGRAPH_SMPP_TLS_PORT: '3550',
        HELIOGRAPH_SMPP_TLS_CERT: join(folder, 'cert.pem'),
        HELIOGRAPH_SMPP_TLS_KEY: join(folder, 'key.pem'),
        HELIOGRAPH_SENDERS: 'open',
      },
    });
  });
  after(async () => {
    await production.app.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function createCaller(addresses: string[]): Promise<SmppCaller> {
    const { app, operator } = production;
    const application = await createRegistered(app, ['sms'], 'enterprise');
    await approveAll(operator);
    return { ...application, account: await createAccount(application, { addresses }) };
  }

  function bindByTls(caller: SmppCaller) {
    let [isBound, ended] = [false, ''];
    const answers: number[] = [];
    const session = createSession({
      target: {
        ...{ host: 'localhost', address: '127.0.0.1', port: production.app.app.smpp.tlsPort ?? 0 },
        tls: { ca: ca.cert },
      },
      bind: { command: 'bind_transceiver', ...credentialsOf(caller), systemType: '', addressRange: '' },
      ...{ window: 10, responseMs: 10_000, enquireLinkMs: 30_000, clock: systemClock, log: { record() {} } },
      onBound: () => {
        isBound = true;
      },
      onDeliver: async () => 0,
      onFree() {},
      onClosed: ({ sentence }) => {
        ended = sentence;
      },
    });
    return { session, answers, isBound: () => isBound, ended: () => ended };
  }

  test('an account without addresses binds by TLS, and not by the plain port', async () => {
    const caller = await createCaller([]);
    const plain = await connectRaw(production.app.app.smpp.port ?? 0);
    assert.equal((await plain.bind('bind_transceiver', credentialsOf(caller))).status, 0x0d);
    const made = bindByTls(caller);
    await eventually('it is bound', () => made.isBound() || made.ended() !== '');
    assert.equal(made.ended(), '');
    await made.session.unbind();
  });

  test('an account with addresses binds by either', async () => {
    const caller = await createCaller(['127.0.0.0/24']);
    const plain = await connectRaw(production.app.app.smpp.port ?? 0);
    assert.equal((await plain.bind('bind_transceiver', credentialsOf(caller))).status, 0);
    // Production refuses what no country has, and a sender is open here.
    assert.equal((await plain.submit({ destination: '44770090' })).status, 0x0b);
    assert.equal((await plain.submit()).status, 0);
    plain.close();
    const made = bindByTls(caller);
    await eventually('it is bound', () => made.isBound() || made.ended() !== '');
    assert.equal(made.ended(), '');
    await made.session.unbind();
  });

  test('a registration that waits for approval opens nothing', async () => {
    const caller = await createCaller(['127.0.0.1']);
    const { developer, id } = caller;
    assert.equal((await developer.send('DELETE', `/portal/v1/applications/${id}/registrations/sms`)).status, 204);
    assert.equal((await register(developer, id, 'sms', 'free')).status, 201);
    const client = await connectRaw(production.app.app.smpp.port ?? 0);
    assert.equal((await client.bind('bind_transceiver', credentialsOf(caller))).status, 0x0e);
  });

  test('a peer that closes its side of a TLS connection has the answer to its last submit', async () => {
    const caller = await createCaller([]);
    const byTls = (port: number) => connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: ca.cert });
    const client = await connectRaw(production.app.app.smpp.tlsPort ?? 0, byTls);
    assert.equal((await client.bind('bind_transceiver', credentialsOf(caller))).status, 0);
    client.send({ ...textTo('447700900123'), command: 'submit_sm', status: 0, sequence: 7 });
    client.end();
    const { status, sequence } = await client.take('submit_sm_resp');
    assert.deepEqual([status, sequence], [0, 7]);
    await client.closed();
  });

  test('connections that begin no handshake are bounded by address, and make room when they end', async () => {
    const open = new Set<Socket>();
    async function connectSilently(): Promise<Socket> {
      const socket = connect({ port: production.app.app.smpp.tlsPort ?? 0, host: '127.0.0.1' });
      await once(socket, 'connect');
      open.add(socket);
      socket.on('error', () => {}).on('close', () => open.delete(socket));
      socket.resume();
      return socket;
    }
    for (let count = 0; count < 50; count++) await connectSilently();
    const oneMore = await connectSilently();
    await eventually('it is cut', () => !open.has(oneMore));
    assert.equal(open.size, 50, 'the others are still waited for');
    for (const socket of open) socket.destroy();
    const caller = await createCaller([]);
    await eventually('there is room for a bind', async () => {
      const made = bindByTls(caller);
      await eventually('it is bound, or cut', () => made.isBound() || made.ended() !== '');
      if (made.isBound()) await made.session.unbind();
      return made.isBound();
    });
  });
});
