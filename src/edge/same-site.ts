import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../platform/errors.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * A browser sends the session's cookie along with whatever another site makes it send. It also says where the request
 * comes from, which no page can forge: `Sec-Fetch-Site`, or, in older browsers and without https, `Origin`. With neither
 * it is no browser, and has no cookie it did not put there itself.
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

/** The page's own host, where one reaches us by another name than the public one. */
function isOwnHost(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}

function crossSite(): ApiError {
  return new ApiError('PERMISSION_DENIED', 'This request comes from another site. Use the portal itself.');
}
