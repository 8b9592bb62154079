// Wireshark's SMPP dissector as a judge. It reads a capture file that we write from recorded octets, since capturing on an
// interface takes rights that a test may not have. scripts/system-needs.ts gets tshark for the tests that import this file.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Octets that went over one connection, in order. */
export type Recording = { from: 'client' | 'server'; octets: Buffer }[];

export interface Recorder {
  /** Clients connect here. */
  port: number;
  recordings: Recording[];
  close(): Promise<void>;
}

/** Stands between a client and a server, and keeps what passes. */
export async function record(serverPort: number): Promise<Recorder> {
  const recordings: Recording[] = [];
  const server = createServer((client) => {
    const recording: Recording = [];
    recordings.push(recording);
    const upstream = connect(serverPort, '127.0.0.1');
    client.on('data', (octets) => recording.push({ from: 'client', octets })).pipe(upstream);
    upstream.on('data', (octets) => recording.push({ from: 'server', octets })).pipe(client);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    recordings,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const smppPort = 2775;
const firstClientPort = 40_000;

export interface Verdict {
  /** command_ids of the PDUs that it found, as hexadecimal numbers. */
  commands: string[];
  /** What it calls malformed, or warns of. */
  complaints: string[];
}

export function judge(recordings: readonly Recording[]): Verdict {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-capture-'));
  try {
    const file = join(folder, 'smpp.pcap');
    writeFileSync(file, toCapture(recordings));
    // To start it takes longer than to read: one run answers both.
    const packets = tshark(file).map((line) => line.split('\t'));
    const commands = packets.flatMap(([ids = '']) => ids.split(',').filter((id) => id !== ''));
    const complaints = packets
      .filter(([, severities = '', malformed = '']) => malformed !== '' || severities.split(',').some(isWarning))
      .map((fields) => fields.join(' '));
    return { commands, complaints };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Wireshark's number for a warning; an error's is higher. */
const isWarning = (severity: string) => Number(severity) >= 6_291_456;

/** One line for each packet: its commands, the severities of what it says about them, whether it is malformed, and what it says. */
function tshark(file: string): string[] {
  const fields = ['smpp.command_id', '_ws.expert.severity', '_ws.malformed', '_ws.expert.message'];
  const args = ['-n', '-r', file, '-d', `tcp.port==${smppPort},smpp`, '-Y', 'smpp || _ws.malformed', '-T', 'fields'];
  args.push(...fields.flatMap((field) => ['-e', field]));
  const { status, stdout, stderr } = spawnSync('tshark', args, { encoding: 'utf8', timeout: 60_000 });
  if (status !== 0) throw new Error(`tshark ended with ${status}: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}

/** A file of libpcap: raw IPv4 packets (link type 101), one for each piece of a recording. */
function toCapture(recordings: readonly Recording[]): Buffer {
  const head = Buffer.alloc(24);
  head.writeUInt32LE(0xa1b2c3d4, 0);
  head.writeUInt16LE(2, 4);
  head.writeUInt16LE(4, 6);
  head.writeUInt32LE(0x40000, 16);
  head.writeUInt32LE(101, 20);
  return Buffer.concat([
    head,
    ...recordings.flatMap((recording, index) => packetsOf(recording, firstClientPort + index)),
  ]);
}

/** A segment of TCP carries at most this much. */
const mostOctets = 60_000;

function packetsOf(recording: Recording, clientPort: number): Buffer[] {
  const next = { client: 1, server: 1 };
  const packets: Buffer[] = [];
  for (const { from, octets } of recording) {
    for (let at = 0; at < octets.length; at += mostOctets) {
      const payload = octets.subarray(at, at + mostOctets);
      const acknowledged = next[from === 'client' ? 'server' : 'client'];
      packets.push(packetOf(from, clientPort, { sequence: next[from], acknowledged, payload }));
      next[from] += payload.length;
    }
  }
  return packets;
}

interface Segment {
  sequence: number;
  acknowledged: number;
  payload: Buffer;
}

function packetOf(from: 'client' | 'server', clientPort: number, { sequence, acknowledged, payload }: Segment): Buffer {
  const packet = Buffer.alloc(16 + 20 + 20);
  const length = 40 + payload.length;
  packet.writeUInt32LE(length, 8);
  packet.writeUInt32LE(length, 12);
  const ip = packet.subarray(16);
  ip[0] = 0x45;
  ip.writeUInt16BE(length, 2);
  ip[8] = 64;
  ip[9] = 6;
  ip.writeUInt32BE(from === 'client' ? 0x7f000001 : 0x7f000002, 12);
  ip.writeUInt32BE(from === 'client' ? 0x7f000002 : 0x7f000001, 16);
  const tcp = ip.subarray(20);
  tcp.writeUInt16BE(from === 'client' ? clientPort : smppPort, 0);
  tcp.writeUInt16BE(from === 'client' ? smppPort : clientPort, 2);
  tcp.writeUInt32BE(sequence, 4);
  tcp.writeUInt32BE(acknowledged, 8);
  tcp.writeUInt16BE(0x5018, 12);
  tcp.writeUInt16BE(0xffff, 14);
  return Buffer.concat([packet, payload]);
}
