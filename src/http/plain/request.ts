import { bodyLimit } from '../request/body.ts';

/** A request that arrived whole and has only one reading. */
export interface PlainRequest {
  method: string;
  target: string;
  /** By lower-case name; none is repeated. */
  headers: Record<string, string | undefined>;
  body: Buffer;
  /** Bytes of this request; the next one starts after them. */
  length: number;
}

/** Node's limit for headers. */
const longestHead = 16 * 1024;
/** Most bytes of one plain request: head, blank line and body. */
export const longestRequest = longestHead + 4 + bodyLimit;
const mostHeaders = 100;

/** A method starts with a capital letter. Hand anything else, such as a TLS handshake, to Node at once. */
const [letterA, letterZ] = [0x41, 0x5a];

/**
 * The request line and headers of RFC 9112 in their strict form: one space, origin form, CRLF, no folding, printable
 * ASCII only.
 */
const plainHead =
  /^(?:GET|HEAD|POST|PATCH|DELETE|PUT|OPTIONS) \/[!"$-~]* HTTP\/1\.1\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~]*\r\n)+$/;

/** Headers that change how the message is framed or what happens to its connection. */
const setApart = new Set(['transfer-encoding', 'expect', 'upgrade', 'trailer', 'te', 'proxy-connection']);

/**
 * Reads a plainly written request, as API clients write them. Undefined while it is incomplete; null if it is not
 * plain: it may be valid, but needs Node's full HTTP parser.
 */
export function readPlainRequest(bytes: Buffer): PlainRequest | undefined | null {
  const first = bytes[0] ?? letterA;
  if (first < letterA || first > letterZ) return null;
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return bytes.length > longestHead ? null : undefined;
  if (headEnd > longestHead) return null;
  const head = bytes.toString('latin1', 0, headEnd + 2);
  if (!plainHead.test(head)) return null;

  const methodEnd = head.indexOf(' ');
  const targetEnd = head.indexOf(' ', methodEnd + 1);
  const headers = readHeaders(head, head.indexOf('\r\n', targetEnd) + 2);
  if (headers === null || headers.host === undefined || !staysOpen(headers.connection)) return null;

  const bodyStart = headEnd + 4;
  const bodyLength = readLength(headers['content-length']);
  if (bodyLength === null) return null;
  const length = bodyStart + bodyLength;
  if (bytes.length < length) return undefined;
  return {
    method: head.slice(0, methodEnd),
    target: head.slice(methodEnd + 1, targetEnd),
    headers,
    body: bytes.subarray(bodyStart, length),
    length,
  };
}

function readHeaders(head: string, from: number): Record<string, string | undefined> | null {
  const headers: Record<string, string | undefined> = { __proto__: null } as never;
  let count = 0;
  for (let start = from; start < head.length; ) {
    const colon = head.indexOf(':', start);
    const end = head.indexOf('\r\n', colon);
    const name = head.slice(start, colon).toLowerCase();
    if (headers[name] !== undefined || setApart.has(name) || ++count > mostHeaders) return null;
    headers[name] = head.slice(colon + 1, end).trim();
    start = end + 2;
  }
  return headers;
}

function staysOpen(connection: string | undefined): boolean {
  return connection === undefined || connection.toLowerCase() === 'keep-alive';
}

function readLength(contentLength: string | undefined): number | null {
  if (contentLength === undefined) return 0;
  if (!/^\d{1,7}$/.test(contentLength)) return null;
  const length = Number(contentLength);
  return length > bodyLimit ? null : length;
}
