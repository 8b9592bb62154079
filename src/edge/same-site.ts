import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../platform/errors.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * A browser attaches the session cookie to requests that other sites trigger. It also names their origin, which a page
 * cannot forge: `Sec-Fetch-Site`, or `Origin` in older browsers and without https. A request with neither is not from a
 * browser, so its sender added the cookie itself.
 */
export function refuseCrossSite(
  method: string,
  headers: IncomingHttpHeaders,
  publicOrigin: string,
): ApiError | undefined {
  if (safeMethods.has(method)) return undefined;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none' ? undefined : crossSite();
  const { origin, host } = headers;
  return origin === undefined || origin === publicOrigin || isOwnHost(origin, host) ? undefined : crossSite();
}

/** The page's own host, if users reach us under another name than the public URL. */
function isOwnHost(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}

function crossSite(): ApiError {
  return new ApiError('PERMISSION_DENIED', 'This request comes from another site. Send it from the portal.');
}
