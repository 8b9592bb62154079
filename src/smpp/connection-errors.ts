// Tests: test/smpp/tls.test.ts, test/parts/smpp-connection-test.test.ts
import type { ConnectionTarget } from './connection.ts';

/** The error of a socket as a sentence for operators: it names the error and the setting to check. */
export function describeConnectionError(error: unknown, target: ConnectionTarget): string {
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  const where = `${target.host}:${target.port}`;
  return (
    describeTcp(code, where, target) ??
    describeCertificate(code, target) ??
    describeTls(code, where, target) ??
    `The connection to ${where} failed: ${message.slice(0, 200)}`
  );
}

/**
 * A peer that was silent, or ended the connection, before TLS was ready or before it answered the bind: the sentence names
 * the settings that may be wrong. A server that refuses a client certificate often just closes, too.
 */
export function hintAtTls(sentence: string, { tls }: ConnectionTarget, state: 'tls' | 'binding'): string {
  if (tls === false) return `${sentence} If its port is for TLS, set tls.`;
  if (/certificate|CA|TLS (?:older|newer) than|not speak TLS/.test(sentence)) return sentence;
  const hint = tls.cert === undefined ? 'It may ask for a client certificate' : 'It may refuse the client certificate';
  const other = state === 'tls' ? ' If its port is not for TLS, set tls to false.' : '';
  return `${sentence} ${hint} (tls.cert).${other}`;
}

function describeTcp(code: string, where: string, { address, localAddress }: ConnectionTarget): string | undefined {
  switch (code) {
    case 'ECONNREFUSED':
      return `${where} (${address}) refuses connections.`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${where} (${address}) cannot be reached (${code}).`;
    case 'ECONNRESET':
    case 'EPIPE':
      return `${where} broke the connection (${code}).`;
    case 'EADDRNOTAVAIL':
      return localAddress === undefined
        ? `No local address leads to ${where} (${code}).`
        : `local_address ${localAddress} is no address of this machine.`;
    default:
      return undefined;
  }
}

function describeCertificate(code: string, { host, tls }: ConnectionTarget): string | undefined {
  const name = (tls !== false && tls.servername) || host;
  switch (code) {
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The carrier's certificate is for another name than ${name}. Check host, or set tls.servername.`;
    case 'CERT_HAS_EXPIRED':
      return "The carrier's certificate has expired.";
    case 'CERT_NOT_YET_VALID':
      return "The carrier's certificate is not valid yet. Check this machine's clock.";
    case 'CERT_REVOKED':
      return "The carrier's certificate has been revoked.";
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'CERT_SIGNATURE_FAILURE':
      return `The carrier's certificate is signed by an unknown CA (${code}). Give that CA in tls.ca.`;
    default:
      return undefined;
  }
}

function describeTls(code: string, where: string, { tls }: ConnectionTarget): string | undefined {
  if (
    /CERTIFICATE_REQUIRED|ALERT_(HANDSHAKE_FAILURE|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/.test(code)
  ) {
    const given = tls !== false && tls.cert !== undefined;
    return given
      ? `${where} refuses the client certificate of tls.cert (${code}).`
      : `${where} refuses TLS without a client certificate (${code}). Give it in tls.cert and tls.key.`;
  }
  if (/ALERT_(UNKNOWN_CA|CERTIFICATE_UNKNOWN|CERTIFICATE_EXPIRED|CERTIFICATE_REVOKED|DECRYPT_ERROR)/.test(code)) {
    return `${where} refuses the client certificate of tls.cert (${code}).`;
  }
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|RECORD_LAYER_FAILURE/.test(code)) {
    return `${where} does not speak TLS. Set tls to false, or use the carrier's port for TLS.`;
  }
  if (/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|NO_PROTOCOLS/.test(code)) {
    return `${where} speaks only TLS older than 1.2 (${code}).`;
  }
  if (/^ERR_OSSL|^ERR_CRYPTO|PEM|KEY_VALUES_MISMATCH/.test(code)) {
    return `tls.ca, tls.cert or tls.key cannot be used (${code}).`;
  }
  return undefined;
}
