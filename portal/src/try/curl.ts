import type { SentRequest } from './exchange.ts';

/** The request as a command for a POSIX shell, with its credential. */
export function curlOf({ method, path, headers, body }: SentRequest, origin: string): string {
  const lines = [
    `curl -i -X ${method} ${quoted(origin + path)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === '' ? [] : [`-d ${quoted(body)}`]),
  ];
  return lines.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
