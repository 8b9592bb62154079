import { exampleId } from './field-examples.ts';

interface Header {
  description: string;
  schema: object;
  example?: unknown;
}

const text = (description: string, example: string): Header => ({ description, schema: { type: 'string' }, example });
const number = (description: string, example: number): Header => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
});

/** Every header of an answer that callers may read. */
export const headers = {
  'X-Correlation-ID': text('Unique identifier of the request, to be quoted when reporting a problem', exampleId('req')),
  'RateLimit-Limit': number('Requests permitted in a minute', 60),
  'RateLimit-Remaining': number('Requests still available in this minute', 59),
  'RateLimit-Reset': number('Seconds until the full quota is available again', 60),
  'RateLimit-Policy': text('Both limits', '"minute";q=60;w=60, "burst";q=60;w=1'),
  'Retry-After': number('Seconds to wait before the next try', 12),
  'WWW-Authenticate': text(
    'The credential that is asked for, and what is wrong with the one sent',
    'Key realm="heliograph"',
  ),
  Link: text('The page that explains the error', '<http://127.0.0.1:8080/docs/errors/NOT_FOUND>; rel="help"'),
  Location: text('The path of the record', `/sms/v1/messages/${exampleId('msg')}`),
  'Set-Cookie': text('The session, for a browser', 'heliograph_session=…; Path=/; HttpOnly; SameSite=Lax'),
  'Idempotency-Replayed': text('true if this is the stored answer to an earlier request with the same key', 'true'),
  'Content-Disposition': text('The name to save the file under', 'attachment; filename="totals.csv"'),
} satisfies Record<string, Header>;

export type HeaderName = keyof typeof headers;
