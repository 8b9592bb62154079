import type { Arrival } from '../http/admission.ts';
import type { CallingClient, Scope } from '../http/route.ts';
import { ApiError } from '../platform/errors.ts';
import { type OwnedText, ownedText } from '../platform/owned-text.ts';

/** A credential as the caller sent it, or the refusal. This file looks nothing up. */
export type Sent = OwnedText | ApiError;

const realm = 'heliograph';
const space = 0x20;

/** Created once: each error captures a stack trace, which would be most of the work in a flood. */
const keyRefusals = {
  missing: unidentifiedKey('Send your API key in the apikey header.'),
  wrongKind: unidentifiedKey('This API needs an API key in the apikey header; a token does not open it.'),
  twice: unidentifiedKey('The apikey header was sent twice.'),
  notAlone: unidentifiedKey('The apikey header must hold the key alone, without quotes, spaces or a scheme.'),
  malformed: unidentifiedKey('This is not an API key of this service. Check that you copied the whole key.'),
};
export const deadKey = unidentifiedKey('The API key is unknown, expired or not approved yet.');
export const suspendedKey = unidentifiedKey(
  'The API key is suspended, because the service was restored from a backup. Enable it in the portal.',
);

const needsToken = 'This API needs an access token in the Authorization header; an API key does not open it.';
const notBearer = 'The Authorization header must be: Bearer <token>.';
const tokenRefusals = {
  missing: unidentifiedToken('Send an access token: Authorization: Bearer <token>.', false),
  keyInstead: unidentifiedToken(needsToken, false),
  wrongKind: unidentifiedToken(needsToken),
  twice: unidentifiedToken('The Authorization header was sent twice.'),
  otherScheme: unidentifiedToken(notBearer, false),
  notAlone: unidentifiedToken(notBearer),
  malformed: unidentifiedToken('The token is malformed.'),
};
export const deadToken = unidentifiedToken('The token is invalid, expired or revoked.');

export const missingScope: Record<Scope, ApiError> = {
  'verify:manage': lacking('verify:manage'),
  'messaging:send': lacking('messaging:send'),
};

const sidRefusals = {
  missing: unidentifiedSid('Send the account sid and its auth token by HTTP Basic.'),
  twice: unidentifiedSid('The Authorization header was sent twice.'),
  malformed: unidentifiedSid('This is not an account sid of this service with its auth token.'),
};
export const deadSid = unidentifiedSid('The account sid is unknown, or the auth token is not valid for it.');
export const unregisteredSid = new ApiError(
  'PERMISSION_DENIED',
  'The application is not registered for this API. Register it in the portal.',
);

/** Our keys are a third as long. Longer text is refused without a lookup. */
const longestKey = 160;
/** `Bearer` and the longest token that we read. */
const longestBearer = 4200;
/** Our client id and secret, fully percent-encoded, take 460 characters in base64. */
const longestBasic = 1024;
/** A request head has no room for more. */
const longestCookies = 16_384;
/** As many characters as are needed to recognise a prefix. */
const startLength = 40;

export function readApiKey(arrival: Arrival): Sent {
  const { apikey } = arrival.headers;
  if (typeof apikey !== 'string' || apikey === '') {
    return arrival.headers.authorization === undefined ? keyRefusals.missing : keyRefusals.wrongKind;
  }
  if (arrival.repeats('apikey')) return keyRefusals.twice;
  return apikey.length > longestKey ? malformedKey(apikey) : ownedText(apikey);
}

export function malformedKey(text: string): ApiError {
  const start = text.slice(0, startLength);
  if (/^(bearer +)?eyJ/i.test(start)) return keyRefusals.wrongKind;
  return /^["'\s]|^bearer /i.test(start) || /["'\s]/.test(text.slice(-1))
    ? keyRefusals.notAlone
    : keyRefusals.malformed;
}

export function readBearer(arrival: Arrival): Sent {
  const { authorization } = arrival.headers;
  if (authorization === undefined || authorization === '') {
    return arrival.headers.apikey === undefined ? tokenRefusals.missing : tokenRefusals.keyInstead;
  }
  if (arrival.repeats('authorization')) return tokenRefusals.twice;
  if (authorization.length > longestBearer) {
    return isScheme(authorization, 'bearer') ? tokenRefusals.malformed : tokenRefusals.otherScheme;
  }
  // The usual spelling. The token's form is checked later, and only if the token is not remembered.
  if (authorization.startsWith('Bearer ') && authorization.charCodeAt(7) !== space)
    return ownedText(authorization.slice(7));
  const text = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(authorization)?.[1];
  if (text !== undefined) return ownedText(text);
  return isScheme(authorization, 'bearer') ? tokenRefusals.notAlone : tokenRefusals.otherScheme;
}

export function malformedToken(text: string): ApiError {
  if (!/^[A-Za-z0-9._~+/=-]+$/.test(text)) return tokenRefusals.notAlone;
  return /^hg_[a-z]+_/.test(text.slice(0, startLength)) ? tokenRefusals.wrongKind : tokenRefusals.malformed;
}

/** RFC 9110, section 11.4: the scheme in any letter case, alone or followed by a space. */
function isScheme(authorization: string, scheme: string): boolean {
  const { length } = scheme;
  if (authorization.slice(0, length).toLowerCase() !== scheme) return false;
  return authorization.length === length || authorization.charCodeAt(length) === space;
}

/**
 * RFC 6749, section 2.3.1: clients form-encode id and secret before HTTP Basic. Undefined without Basic: some clients
 * send a header of another scheme with every request, which is no attempt to authenticate here.
 */
export function readBasic(arrival: Arrival): CallingClient['basic'] {
  const { authorization } = arrival.headers;
  if (authorization === undefined) return undefined;
  // The second header may be Basic.
  if (arrival.repeats('authorization')) return null;
  if (!isScheme(authorization, 'basic')) return undefined;
  if (authorization.length > longestBasic) return null;
  const encoded = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return null;
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

/** The text after `Basic`: an account sid and its token, in base64. */
export function readSid(arrival: Arrival): Sent {
  const { authorization } = arrival.headers;
  if (authorization === undefined || !isScheme(authorization, 'basic')) return sidRefusals.missing;
  if (arrival.repeats('authorization')) return sidRefusals.twice;
  if (authorization.length > longestBasic) return sidRefusals.malformed;
  if (authorization.startsWith('Basic ') && authorization.charCodeAt(6) !== space)
    return ownedText(authorization.slice(6));
  const text = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization)?.[1];
  return text === undefined ? sidRefusals.malformed : ownedText(text);
}

export function malformedSid(): ApiError {
  return sidRefusals.malformed;
}

export function readCookie(header: string | undefined, name: string): string | undefined {
  if (header === undefined || header.length > longestCookies) return undefined;
  for (const pair of header.split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}

function unidentifiedKey(message: string): ApiError {
  return new ApiError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': `Key realm="${realm}"` } });
}

function unidentifiedSid(message: string): ApiError {
  return new ApiError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': `Basic realm="${realm}"` } });
}

/** RFC 6750, section 3: send the error code only if the caller sent a token. Another scheme counts as no token. */
function unidentifiedToken(message: string, sent = true): ApiError {
  const challenge = `Bearer realm="${realm}"${sent ? ', error="invalid_token"' : ''}`;
  return new ApiError('UNAUTHENTICATED', message, { headers: { 'WWW-Authenticate': challenge } });
}

function lacking(scope: Scope): ApiError {
  return new ApiError('PERMISSION_DENIED', `This API needs a token with the scope ${scope}.`, {
    headers: { 'WWW-Authenticate': `Bearer realm="${realm}", error="insufficient_scope", scope="${scope}"` },
  });
}

export function signInFirst(): ApiError {
  return new ApiError('UNAUTHENTICATED', 'Sign in first: POST /portal/v1/sessions.', {
    headers: { 'WWW-Authenticate': `Session realm="${realm}"` },
  });
}
