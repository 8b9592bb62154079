import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';

export type ReadAddress = (socket: Socket, headers: IncomingHttpHeaders) => string;

/** The caller's address, behind the proxies we trust. A caller that has hung up meanwhile has none any more. */
export function createAddressReader(trustedProxies: string[]): ReadAddress {
  if (trustedProxies.length === 0) return ({ remoteAddress = '' }) => remoteAddress;
  const trust = proxyAddr.compile(trustedProxies);
  return (socket, headers) => {
    if (socket.remoteAddress === undefined) return '';
    // Of a request, these two are all it looks at.
    return proxyAddr({ socket, headers } as IncomingMessage, trust);
  };
}
