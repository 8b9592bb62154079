// The SMS accept as a team would write it in a day: Fastify, its schema validation, @fastify/rate-limit in memory, a key
// from a Map, and one insert per request.
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';
import pg from 'pg';

const keys = new Set(process.env.KEYS.split(','));
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
await pool.query(`create table message (
  id uuid primary key default gen_random_uuid(), recipient text not null, sender text not null, body text not null,
  status text not null default 'queued', created_at timestamptz not null default now()
)`);
await pool.query(`create index on message (created_at) where status = 'queued'`);

const app = Fastify();
app.addHook('onRequest', async (request, reply) => {
  if (!keys.has(request.headers.apikey)) return reply.code(401).send({ error: 'unknown key' });
});
await app.register(rateLimit, {
  max: 1_000_000,
  timeWindow: '1 minute',
  keyGenerator: (request) => request.headers.apikey,
});
const body = {
  type: 'object',
  required: ['to', 'from', 'message'],
  additionalProperties: false,
  properties: {
    to: { type: 'string', pattern: '^\\+[1-9][0-9]{6,14}$' },
    from: { type: 'string', minLength: 1, maxLength: 15 },
    message: { type: 'string', minLength: 1, maxLength: 1530 },
  },
};
app.post('/sms/v1/messages', { schema: { body } }, async (request, reply) => {
  const { to, from, message } = request.body;
  const { rows } = await pool.query(
    `insert into message (recipient, sender, body) values ($1, $2, $3)
     returning id, recipient as "to", sender as "from", body as message, status, created_at`,
    [to, from, message],
  );
  return reply.code(201).send(rows[0]);
});
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
