import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import { createBoundedMap } from '../platform/bounded-map.ts';
import { ownCopy } from '../platform/own-copy.ts';

export type ReadAddress = (socket: Socket, headers: IncomingHttpHeaders) => string;

/** The caller's address, behind the proxies we trust. A caller that has hung up meanwhile has none any more. */
export function createAddressReader(trustedProxies: string[]): ReadAddress {
  if (trustedProxies.length === 0) return ({ remoteAddress = '' }) => remoteAddress;
  const isTrusted = proxyAddr.compile(trustedProxies);
  // There are few proxies, and to read their addresses anew takes longer than all else that is done here.
  const known = createBoundedMap<string, boolean>(1000);
  const trust = (address: string, hops: number) => {
    let trusted = known.get(address);
    if (trusted === undefined) {
      trusted = isTrusted(address, hops);
      known.set(ownCopy(address), trusted);
    }
    return trusted;
  };
  return (socket, headers) => {
    if (socket.remoteAddress === undefined) return '';
    // Of a request, these two are all it looks at.
    return proxyAddr({ socket, headers } as IncomingMessage, trust);
  };
}
