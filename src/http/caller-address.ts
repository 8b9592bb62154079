import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import { createBoundedMap } from '../platform/bounded-map.ts';
import { ownCopy } from '../platform/own-copy.ts';

export type ReadAddress = (socket: Socket, headers: IncomingHttpHeaders) => string;

/** Reads the caller's address behind trusted proxies. Empty when the caller has hung up. */
export function createAddressReader(trustedProxies: string[]): ReadAddress {
  if (trustedProxies.length === 0) return ({ remoteAddress = '' }) => remoteAddress;
  const isTrusted = proxyAddr.compile(trustedProxies);
  // Proxies are few, and parsing an address costs more than the rest of this function.
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
    // proxyAddr reads only these two properties of a request.
    return proxyAddr({ socket, headers } as IncomingMessage, trust);
  };
}
