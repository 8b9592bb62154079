import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { malformedJson } from './error-reply.ts';

/** The largest body that is read, on every route. */
export const bodyLimit = 64 * 1024;

/** The two things a body may be written in. Which of them a route takes was decided before its body is read. */
export function addBodyParsers(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    try {
      done(null, readJson(body));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body: string, done) => done(null, body === '' ? undefined : new URLSearchParams(body)),
  );
}

function readJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  // JSON.parse keeps `__proto__` as a plain own property, and handlers read named properties only.
  if (!isUtf8(body)) throw malformedJson();
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw malformedJson();
  }
}
