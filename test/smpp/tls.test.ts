import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import type { TlsOptions as ServerOptions } from 'node:tls';
import type { TlsOptions } from '../../src/smpp/connection.ts';
import { createCertificate } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { startScriptedSmsc } from '../support/scripted-smsc.ts';
import { bindSession, openSession, type TestSession } from './test-session.ts';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const ca = createCertificate({ name: 'Test CA', isCa: true });
const otherCa = createCertificate({ name: 'Other CA', isCa: true });
const server = createCertificate({ name: 'smsc.test', issuer: ca });
const stranger = createCertificate({ name: 'stranger', issuer: otherCa });
const client = createCertificate({ name: 'esme', issuer: ca });

/** A session by TLS with an SMSC that has these certificates; closed or bound. */
async function connect(smscOptions: ServerOptions, tls: TlsOptions, host = 'smsc.test'): Promise<TestSession> {
  const smsc = await startScriptedSmsc(() => false, smscOptions);
  opened.push(smsc.close);
  return connectTo(smsc.port, tls, host);
}

async function connectTo(port: number, tls: TlsOptions | false, host = 'smsc.test'): Promise<TestSession> {
  const esme = await bindSession(port, { target: { host, address: '127.0.0.1', port, tls } });
  opened.push(() => esme.session.unbind());
  return esme;
}

async function sentenceOf(esme: TestSession): Promise<string> {
  return (await esme.closed()).sentence;
}

describe('28: TLS', () => {
  test('binds with a certificate that the CA of the settings has signed', async () => {
    const esme = await connect(server, { ca: ca.cert });
    assert.equal(esme.session.state, 'bound', esme.reason()?.sentence);
    // Operators are warned before it ends.
    assert.equal(esme.session.certificateEndsAtMs, Date.parse(new X509Certificate(server.cert).validTo));
    const answers = esme.submit();
    await esme.session.unbind(30_000);
    assert.equal(answers[0]?.kind, 'answered');
  });

  test('an address as host is checked too, without a server name; tls.servername names another', async () => {
    const refused = await connect(server, { ca: ca.cert }, '127.0.0.1');
    assert.match(await sentenceOf(refused), /for another name than 127\.0\.0\.1/);
    const named = await connect(server, { ca: ca.cert, servername: 'smsc.test' }, '127.0.0.1');
    assert.equal(named.session.state, 'bound', named.reason()?.sentence);
  });

  test('a certificate for another name is refused and named', async () => {
    const esme = await connect(server, { ca: ca.cert }, 'other.test');
    assert.match(await sentenceOf(esme), /for another name than other\.test/);
    assert.equal(esme.reason()?.kind, 'connect');
  });

  test('an expired certificate is refused and named', async () => {
    const expired = createCertificate({ name: 'smsc.test', issuer: ca, notAfter: new Date(Date.now() - 86_400_000) });
    assert.match(await sentenceOf(await connect(expired, { ca: ca.cert })), /certificate has expired/);
  });

  test('an unknown CA is refused and named, with a CA of our own and without', async () => {
    assert.match(await sentenceOf(await connect(server, { ca: otherCa.cert })), /signed by an unknown CA/);
    assert.match(await sentenceOf(await connect(server, {})), /signed by an unknown CA/);
  });

  test('a client certificate that is asked for and missing, or of another CA, is named', async () => {
    const asking = { ...server, ca: ca.cert, requestCert: true, rejectUnauthorized: true };
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const missing = await connect({ ...asking, maxVersion }, { ca: ca.cert });
      assert.match(await sentenceOf(missing), /without a client certificate|ask for a client certificate/);
      const wrong = await connect({ ...asking, maxVersion }, { ca: ca.cert, cert: stranger.cert, key: stranger.key });
      assert.match(await sentenceOf(wrong), /refuses? the client certificate/);
      const good = await connect({ ...asking, maxVersion }, { ca: ca.cert, cert: client.cert, key: client.key });
      assert.equal(good.session.state, 'bound', good.reason()?.sentence);
    }
  });

  test('certificates that cannot be read are named', async () => {
    const esme = await connect(server, { ca: ca.cert, cert: 'nonsense', key: 'nonsense' });
    assert.match(await sentenceOf(esme), /tls\.ca, tls\.cert or tls\.key cannot be used/);
  });

  test('a port without TLS is named, and TLS on a carrier without tls', async () => {
    const plain = createServer((socket) => {
      socket.on('error', () => {});
      socket.resume();
      socket.end('nothing of TLS\r\n');
    });
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    opened.push(() => new Promise((resolve) => plain.close(resolve)));
    const { port } = plain.address() as { port: number };
    assert.match(await sentenceOf(await connectTo(port, { ca: ca.cert })), /does not speak TLS/);
    const smsc = await startScriptedSmsc(() => false, server);
    opened.push(smsc.close);
    assert.match(await sentenceOf(await connectTo(smsc.port, false)), /speaks TLS|closed the connection|broke the/);
  });

  test('TLS older than 1.2 is refused', async () => {
    const old = { ...server, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const esme = await connect(old, { ca: ca.cert });
    assert.match(await sentenceOf(esme), /TLS older than 1\.2|broke the connection/);
  });

  test('a peer without a word on a carrier without tls: it may be a port for TLS', async () => {
    for (const [name, meet] of [
      ['is silent', () => {}],
      ['closes', (socket: Socket) => void socket.end()],
      ['resets', (socket: Socket) => void socket.once('data', () => socket.resetAndDestroy())],
    ] as const) {
      const sockets: Socket[] = [];
      const plain = createServer((socket) => {
        sockets.push(socket.on('error', () => {}));
        meet(socket);
      });
      await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
      const { port } = plain.address() as { port: number };
      const esme = openSession(port);
      await eventually('the bind', () => ['binding', 'closed'].includes(esme.session.state));
      if (name === 'is silent') esme.pass(10_000);
      assert.match(await sentenceOf(esme), /If its port is for TLS, set tls\./, name);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => plain.close(resolve));
    }
  });

  test('a peer that takes the connection and says nothing is left after 10 s', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const esme = openSession(port, { target: { host: 'smsc.test', address: '127.0.0.1', port, tls: {} } });
    await eventually('TCP is there', () => esme.session.state === 'tls');
    esme.pass(10_000);
    assert.match(
      await sentenceOf(esme),
      /did not finish TLS in 10 s\..* If its port is not for TLS, set tls to false\./,
    );
    silent.close();
  });
});
