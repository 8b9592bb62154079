// Requests as they go over the wire, written before anything is measured.

export function get(path: string, ...headers: string[]): string {
  return `GET ${path} HTTP/1.1\r\nHost: bench\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`;
}

export function post(path: string, body: object, ...headers: string[]): string {
  return withBody(path, 'application/json', JSON.stringify(body), headers);
}

export function postForm(path: string, fields: Record<string, string>, ...headers: string[]): string {
  return withBody(path, 'application/x-www-form-urlencoded', new URLSearchParams(fields).toString(), headers);
}

function withBody(path: string, type: string, body: string, headers: string[]): string {
  const lines = ['Host: bench', ...headers, `Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`];
  return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

export const byKey = (key: string) => `apikey: ${key}`;
export const byToken = (token: string) => `Authorization: Bearer ${token}`;

export function many<Value>(count: number, make: (index: number) => Value): Value[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
