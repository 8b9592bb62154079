import { type ErrorCode, statusOf } from '../platform/errors.ts';

/** The errors of RFC 6749 that the identity endpoints give. */
export const oauthErrorNames = [
  'invalid_request',
  'invalid_client',
  'invalid_scope',
  'unsupported_grant_type',
  'temporarily_unavailable',
  'server_error',
] as const;

/** The name of an error in the address of its page. A 429 has no code, so its page has the status. */
export type HelpName = Exclude<ErrorCode, 'RATE_LIMITED'> | '429' | (typeof oauthErrorNames)[number];

/** Every error page of docs/errors.md. */
export const helpNames = [...Object.keys(statusOf).map((code) => helpNameOf(code as ErrorCode)), ...oauthErrorNames];

export function helpNameOf(code: ErrorCode): HelpName {
  return code === 'RATE_LIMITED' ? '429' : code;
}

/** The header that leads from an error to the page that explains it (RFC 8288), made once for each error. */
export type HelpLinks = Readonly<Record<HelpName, { readonly Link: string }>>;

export function createHelpLinks(publicUrl: string): HelpLinks {
  const links = helpNames.map((name) => [
    name,
    Object.freeze({ Link: `<${publicUrl}/docs/errors/${name}>; rel="help"` }),
  ]);
  return Object.freeze(Object.fromEntries(links));
}
