// An endpoint for webhooks: it counts the events that it received, each once, and when the first and the last one came.
import { createServer } from 'node:http';

const seen = new Set();
let firstMs = 0;
let lastMs = 0;

createServer((request, response) => {
  const id = request.headers['webhook-id'];
  request.resume();
  request.on('end', () => {
    if (id === undefined) {
      response.end(JSON.stringify({ count: seen.size, firstMs, lastMs }));
      return;
    }
    if (seen.size === 0) firstMs = performance.now();
    seen.add(id);
    lastMs = performance.now();
    response.writeHead(204).end();
  });
}).listen(Number(process.env.PORT), '127.0.0.1');
