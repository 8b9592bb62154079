import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';

/** The caller's address, behind the proxies we trust. A caller that has hung up meanwhile has none any more. */
export function createAddressReader(trustedProxies: string[]): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? '';
  const trust = proxyAddr.compile(trustedProxies);
  return (request) => (request.socket.remoteAddress === undefined ? '' : proxyAddr(request, trust));
}
