// Tests: test/smpp/tls.test.ts
import { connect, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, type PeerCertificate } from 'node:tls';

export interface TlsOptions {
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
  servername?: string | undefined;
}

export interface ConnectionTarget {
  /** The name or address as the operator wrote it. */
  host: string;
  /** The address that it resolved to. */
  address: string;
  port: number;
  localAddress?: string | undefined;
  tls: false | TlsOptions;
}

export interface ConnectionEvents {
  /** TCP is connected, TLS is not ready yet. */
  onConnected: () => void;
  /** Ready to send. */
  onReady: () => void;
  onData: (chunk: Buffer) => void;
  /** Called once: the peer ended the connection, or it broke. */
  onEnded: (error: Error | undefined) => void;
}

/** Opens a socket to a carrier. Throws if the certificates of the settings cannot be read. */
export function openConnection(target: ConnectionTarget, events: ConnectionEvents): Socket {
  const socket = target.tls === false ? openPlain(target, events) : openTls(target, target.tls, events);
  socket.setNoDelay(true);
  // Finds a dead machine after minutes; the session's probe is quicker, and finds a dead program too.
  socket.setKeepAlive(true, 60_000);
  let error: Error | undefined;
  let ended = false;
  const end = () => {
    if (ended) return;
    ended = true;
    events.onEnded(error);
  };
  socket.on('data', events.onData);
  socket.on('error', (cause) => {
    error = cause;
    end();
  });
  socket.on('end', end);
  socket.on('close', end);
  return socket;
}

function addressOf({ address, port, localAddress }: ConnectionTarget) {
  return { host: address, port, ...(localAddress !== undefined && { localAddress }) };
}

function openPlain(target: ConnectionTarget, { onReady }: ConnectionEvents): Socket {
  return connect(addressOf(target), onReady);
}

/** Always verified: a carrier with a wrong certificate gets no password. */
function openTls(target: ConnectionTarget, tls: TlsOptions, { onConnected, onReady }: ConnectionEvents): Socket {
  const name = tls.servername ?? target.host;
  const socket = connectTls({
    ...addressOf(target),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    // A server name must not be an address (RFC 6066).
    servername: isIP(name) === 0 ? name : '',
    checkServerIdentity: (_, certificate: PeerCertificate) => checkServerIdentity(name, certificate),
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.cert !== undefined && { cert: tls.cert }),
    ...(tls.key !== undefined && { key: tls.key }),
  });
  socket.on('connect', onConnected);
  socket.on('secureConnect', onReady);
  return socket;
}
