import { addressRefused } from './address-guard.ts';

/**
 * The error of a call as a sentence for the developer of the endpoint. It never contains an address that we resolved.
 */
export function describeCallError(error: unknown): string {
  const { code = '', name } = error as { code?: string; name?: string };
  if (name === 'HTTPParserError') return 'The answer is not HTTP.';
  return sentences[code] ?? (isCertificate(code) ? `The certificate is not trusted (${code}).` : otherwise(code));
}

const sentences: Record<string, string> = {
  [addressRefused]: 'The name leads to an address that is not allowed.',
  ENOTFOUND: 'The name does not resolve to an address.',
  ENODATA: 'The name does not resolve to an address.',
  ETIMEOUT: 'The name servers did not answer.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection broke off.',
  EPIPE: 'The connection broke off.',
  UND_ERR_SOCKET: 'The connection broke off.',
  UND_ERR_CONNECT_TIMEOUT: 'The connection could not be opened in time.',
  UND_ERR_HEADERS_OVERFLOW: 'The answer has too many headers.',
  EHOSTUNREACH: 'The address cannot be reached.',
  ENETUNREACH: 'The address cannot be reached.',
  ETIMEDOUT: 'The address cannot be reached.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another name.',
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  EPROTO: 'The endpoint does not support TLS on this port, or refused our TLS version.',
};

function isCertificate(code: string): boolean {
  return /CERT|SIGNATURE/.test(code);
}

function otherwise(code: string): string {
  return `The call failed${/^[A-Z_0-9]{1,40}$/.test(code) ? ` (${code})` : ''}.`;
}
