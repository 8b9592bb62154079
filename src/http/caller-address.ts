import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import { createBoundedMap } from '../platform/bounded-map.ts';
import { type OwnedText, ownedText } from '../platform/owned-text.ts';

export type ReadAddress = (socket: Socket, headers: IncomingHttpHeaders) => OwnedText;

const noAddress = ownedText('');

/** Reads the caller's address behind trusted proxies. Empty when the caller has hung up. */
export function createAddressReader(trustedProxies: string[]): ReadAddress {
  if (trustedProxies.length === 0) return ({ remoteAddress }) => asOwned(remoteAddress);
  const isTrusted = proxyAddr.compile(trustedProxies);
  // Proxies are few, and parsing an address costs more than the rest of this function.
  const known = createBoundedMap<OwnedText, boolean>(1000);
  const trust = (address: string, hops: number) => {
    const key = ownedText(address);
    let trusted = known.get(key);
    if (trusted === undefined) {
      trusted = isTrusted(address, hops);
      known.set(key, trusted);
    }
    return trusted;
  };
  return (socket, headers) => {
    if (socket.remoteAddress === undefined) return noAddress;
    // proxyAddr reads only these two properties of a request.
    return ownedText(proxyAddr({ socket, headers } as IncomingMessage, trust));
  };
}

/** Node makes a new string of a socket's address, so it need not be copied. */
function asOwned(remoteAddress: string | undefined): OwnedText {
  return remoteAddress === undefined ? noAddress : (remoteAddress as OwnedText);
}
