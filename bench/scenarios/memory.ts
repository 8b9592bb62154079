import { connect, type Socket } from 'node:net';
import type { Bench } from '../bench.ts';
import { get } from '../requests.ts';
import type { Row } from '../result-row.ts';
import { spreadOf } from '../rounds.ts';
import type { Server } from '../server-process.ts';

const group = 'Memory';
const connections = 1000;

/** What a connection takes that has had one answer and waits: in the heap, and in all of the process. */
export async function memory(bench: Bench): Promise<Row[]> {
  const { node } = await bench.startProduct({ HELIOGRAPH_ROLE: 'web' });
  const bare = await bench.startPeer('echo-fastify');
  const rows = [
    ...(await perConnection(bench, 'Per idle connection', node)),
    ...(await perConnection(bench, 'Per idle connection, bare Fastify', bare)),
  ];
  await Promise.all([node.stop(), bare.stop()]);
  return rows;
}

async function perConnection(bench: Bench, name: string, server: Server): Promise<Row[]> {
  const [heap, resident]: [number[], number[]] = [[], []];
  // Each round opens as many again: what was closed leaves room that would hide what the next take.
  const sockets: Socket[] = [];
  for (let round = 0; round < bench.pace.rounds; round++) {
    const before = await server.memory();
    sockets.push(...(await Promise.all(Array.from({ length: connections }, () => openIdle(server.port)))));
    const after = await server.memory();
    heap.push((after.heapUsed + after.external - before.heapUsed - before.external) / connections / 1000);
    resident.push((after.rss - before.rss) / connections / 1000);
  }
  for (const socket of sockets) socket.destroy();
  return [
    { group, name: `${name}, heap`, unit: 'kB', value: spreadOf(heap) },
    { group, name: `${name}, resident`, unit: 'kB', value: spreadOf(resident) },
  ];
}

async function openIdle(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  await new Promise((answered, fail) => {
    socket.once('error', fail).once('data', answered);
    socket.write(get('/healthz'));
  });
  return socket;
}
