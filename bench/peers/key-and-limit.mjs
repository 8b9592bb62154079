// What a team would put in front of a service: Fastify with @fastify/rate-limit in memory, by an API key from a Map.
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';

const keys = new Map(process.env.KEYS.split(',').map((key) => [key, { key }]));
const app = Fastify();
app.addHook('onRequest', async (request, reply) => {
  if (!keys.has(request.headers.apikey)) return reply.code(401).send({ error: 'unknown key' });
});
await app.register(rateLimit, {
  max: 1_000_000,
  timeWindow: '1 minute',
  keyGenerator: (request) => request.headers.apikey,
});
app.post('*', async (request) => request.body);
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
