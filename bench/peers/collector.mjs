// Takes traces and forgets them.
import { createServer } from 'node:http';

createServer((request, response) => {
  request.resume();
  request.on('end', () => response.end());
}).listen(Number(process.env.PORT), '127.0.0.1');
