// The limit: node:http alone, which parses the JSON it is sent and sends it back.
import { createServer } from 'node:http';

createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    const body = pieces.length === 0 ? '{}' : JSON.stringify(JSON.parse(Buffer.concat(pieces).toString('utf8')));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  });
}).listen(Number(process.env.PORT), '127.0.0.1');
