import type { IncomingHttpHeaders } from 'node:http';
import { parseJson } from '../paths.ts';

/** A callback as received: proofs cover its bytes. */
export interface CallbackRequest {
  method: string;
  /** The public URL that the provider was given, with the query it added. Never from the Host header. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export type Parameters = [name: string, value: string][];

const mostParameters = 200;

/** The parameters in the query. Undefined if there are too many. */
export function queryOf({ url }: CallbackRequest): Parameters | undefined {
  const start = url.indexOf('?');
  return start === -1 ? [] : parametersOf(url.slice(start + 1));
}

/** The parameters of a form in the body. Undefined if there are too many. */
export function formOf({ headers, body }: CallbackRequest): Parameters | undefined {
  return mediaTypeOf(headers) === 'application/x-www-form-urlencoded' ? parametersOf(body.toString('utf8')) : [];
}

function parametersOf(text: string): Parameters | undefined {
  if (text.split('&', mostParameters + 1).length > mostParameters) return undefined;
  return [...new URLSearchParams(text)];
}

export function mediaTypeOf(headers: IncomingHttpHeaders): string | undefined {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
}

/** A header that was sent once. */
export function headerOf({ headers }: CallbackRequest, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' && value.length <= 4096 ? value : undefined;
}

/** The content of the callback: JSON, or its parameters by name. Undefined if it cannot be read. */
export function documentOf(request: CallbackRequest, format: 'json' | 'form' | 'query' | undefined): unknown {
  const kind = format ?? formatOf(request);
  if (kind === 'json') return parseJson(request.body.toString('utf8'));
  const parameters = kind === 'form' ? formOf(request) : queryOf(request);
  // The first of each name counts.
  return parameters && Object.fromEntries(parameters.toReversed());
}

function formatOf({ method, headers }: CallbackRequest): 'json' | 'form' | 'query' {
  if (method === 'GET' || method === 'HEAD') return 'query';
  return mediaTypeOf(headers) === 'application/x-www-form-urlencoded' ? 'form' : 'json';
}
