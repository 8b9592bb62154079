// What everything is held against: Fastify alone. It parses what it is sent and sends it back; a GET gets a record of a
// usual size, or twenty of them, from memory.
import Fastify from 'fastify';

const record = {
  id: 'msg_01kvz5r3m8000w4q2c7x9h1b5d',
  to: '+447700900123',
  from: 'ACME',
  message: 'Your table is booked for eight. See you tonight!',
  channel: 'sms',
  status: 'delivered',
  segments: { count: 1, encoding: 'GSM-7', characters: 48, remaining: 112 },
  reference: null,
  error: null,
  created_at: '2026-01-01T12:00:00.000Z',
  updated_at: '2026-01-01T12:00:01.000Z',
  sent_at: '2026-01-01T12:00:00.500Z',
  delivered_at: '2026-01-01T12:00:01.000Z',
  expires_at: '2026-01-02T12:00:00.000Z',
};
const page = { data: Array.from({ length: 20 }, () => record), next_cursor: record.id };

const app = Fastify();
app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
  done(null, Object.fromEntries(new URLSearchParams(body))),
);
app.post('*', async (request) => request.body);
app.get('*', async (request) => (request.query.limit === undefined ? record : page));
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
