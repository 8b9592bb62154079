import type { Arrival } from '../http/gate.ts';
import { countHeader } from '../http/headers.ts';
import type { CallingClient, Scope } from '../http/route.ts';
import { ApiError } from '../platform/errors.ts';

/** A credential as it was sent, or why there is none. Nothing here looks anything up. */
export type Sent = { text: string } | ApiError;

const realm = 'heliograph';
const needsKey = 'This API needs an API key in the apikey header; a token does not open it.';
const needsToken = 'This API needs an access token in the Authorization header; an API key does not open it.';

export function readApiKey({ headers, rawHeaders }: Arrival): Sent {
  const { apikey } = headers;
  if (typeof apikey !== 'string' || apikey === '') {
    const message = headers.authorization === undefined ? 'Send your API key in the apikey header.' : needsKey;
    return unidentifiedKey(message);
  }
  if (countHeader(rawHeaders, 'apikey') > 1) return unidentifiedKey('The apikey header was sent twice.');
  return { text: apikey };
}

export function malformedKey(text: string): ApiError {
  if (/^(bearer +)?eyJ/i.test(text)) return unidentifiedKey(needsKey);
  return unidentifiedKey(
    /^["'\s]|["'\s]$|^Bearer /i.test(text)
      ? 'The apikey header must hold the key alone, without quotes, spaces or a scheme.'
      : 'This is not an API key of this service. Check that all of it was copied.',
  );
}

export function readBearer({ headers, rawHeaders }: Arrival): Sent {
  const { authorization } = headers;
  if (authorization === undefined || authorization === '') {
    const message = headers.apikey === undefined ? 'Send an access token: Authorization: Bearer <token>.' : needsToken;
    return unidentifiedToken(message, false);
  }
  if (countHeader(rawHeaders, 'authorization') > 1)
    return unidentifiedToken('The Authorization header was sent twice.');
  const text = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization)?.[1];
  if (text === undefined) {
    return unidentifiedToken('The Authorization header must be: Bearer <token>.', /^bearer\b/i.test(authorization));
  }
  return { text };
}

export function malformedToken(text: string): ApiError {
  return unidentifiedToken(/^hg_[a-z]+_/.test(text) ? needsToken : 'The token is malformed.');
}

/** RFC 6749, section 2.3.1: id and secret are form-encoded before they go into HTTP Basic. */
export function readBasic({ headers, rawHeaders }: Arrival): CallingClient['basic'] {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  const encoded = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization)?.[1];
  if (encoded === undefined || countHeader(rawHeaders, 'authorization') > 1) return null;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 1) return null;
  try {
    return { clientId: formDecode(pair.slice(0, colon)), clientSecret: formDecode(pair.slice(colon + 1)) };
  } catch {
    return null;
  }
}

function formDecode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}

export function unidentifiedKey(message: string): ApiError {
  return new ApiError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': `Key realm="${realm}"` } });
}

/** RFC 6750, section 3: the error code only when a token was sent; another scheme is as good as none. */
export function unidentifiedToken(message: string, sent = true): ApiError {
  const challenge = `Bearer realm="${realm}"${sent ? ', error="invalid_token"' : ''}`;
  return new ApiError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': challenge } });
}

export function missingScope(scope: Scope): ApiError {
  return new ApiError('PERMISSION_DENIED', `This API needs a token with the scope ${scope}.`, {
    headers: { 'WWW-Authenticate': `Bearer realm="${realm}", error="insufficient_scope", scope="${scope}"` },
  });
}

export function signInFirst(): ApiError {
  return new ApiError('UNAUTHENTICATED', 'Sign in first: POST /portal/v1/sessions.', {
    headers: { 'WWW-Authenticate': `Session realm="${realm}"` },
  });
}
