const mostBytes = 256 * 1024;

/** Reads an answer of the provider up to a bound, so that none can fill the memory. Follows no redirect. */
export async function readBounded(url: string, init: object): Promise<Response> {
  const answer = await fetch(url, { ...(init as RequestInit), redirect: 'manual' });
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    bytes += part.byteLength;
    if (bytes > mostBytes) throw new Error(`the answer of the provider is larger than ${mostBytes} bytes`);
    parts.push(part);
  }
  const { status, headers } = answer;
  const isEmpty = status === 204 || status === 304;
  return new Response(isEmpty ? null : Buffer.concat(parts), { status, headers: withoutEncoding(headers) });
}

/** `fetch` has decoded the body, so these headers no longer describe it. */
function withoutEncoding(given: Headers): Headers {
  const headers = new Headers(given);
  headers.delete('content-encoding');
  headers.delete('content-length');
  return headers;
}
