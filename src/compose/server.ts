import { createServer, type HttpServer, type ServerOptions } from '../http/server.ts';
import type { Foundation } from './foundation.ts';

export type ServerParts = Pick<
  ServerOptions,
  'routes' | 'gateway' | 'onCounted' | 'bulkheads' | 'isDraining' | 'timeouts' | 'sharesPort'
>;

/** Builds the HTTP server by the settings. */
export function composeServer(foundation: Foundation, parts: ServerParts): HttpServer {
  const { httpLane, trustedProxies, publicUrl } = foundation.config;
  return createServer({
    ...foundation,
    ...parts,
    plainLane: httpLane === 'plain',
    trustedProxies,
    publicUrl,
    https: publicUrl.startsWith('https:'),
  });
}
