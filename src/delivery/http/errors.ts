import { addressRefused } from '../../platform/http-out/address-guard.ts';

/** The error of a request as a sentence for operators. */
export function describeHttpError(error: unknown, host: string): string {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  switch (code) {
    case addressRefused:
      return `${message}.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The name of ${host} does not resolve to an address (${code}).`;
    case 'ECONNREFUSED':
      return `${host} refuses connections.`;
    case 'ECONNRESET':
    case 'EPIPE':
      return `${host} broke the connection (${code}).`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${host} cannot be reached (${code}).`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The certificate of ${host} is for another name.`;
    case 'CERT_HAS_EXPIRED':
      return `The certificate of ${host} has expired.`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return `The certificate of ${host} is signed by an unknown CA (${code}). Give that CA in ca.`;
    case 'EPROTO':
      return `${host} does not speak TLS here, or refuses ours (${code}).`;
    default:
      // Error messages may quote the answer, so only the code is shown.
      return `The request to ${host} failed${code === '' ? '' : ` (${code})`}.`;
  }
}
