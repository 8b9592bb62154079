// run: with kills
// "100,000 submits over 8 binds on two nodes with kills of nodes and Postgres: every submit that was answered is kept and
// ends, every receipt arrives at least once, copies only where an acknowledgement was lost."
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../src/platform/database/database.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { decodePdu } from '../../src/smpp/decode.ts';
import { encodePdu } from '../../src/smpp/encode.ts';
import { createFrameReader } from '../../src/smpp/frames.ts';
import { findTlv, type Pdu, tlvTags } from '../../src/smpp/pdu.ts';
import { textTo } from '../smpp/raw-client.ts';
import { createRegistered } from '../support/applications.ts';
import type { Cluster, ClusterNode } from '../support/cluster.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { shareMortalCluster } from '../support/mortal-cluster.ts';
import { type AccountBody, createAccount } from './world.ts';

const count = inShort(250, 100_000);
const binds = 8;
const window = inShort(10, 50);
const withinMs = inShort(90_000, 900_000);
/** A receipt that came this long before or after a kill may come again: its acknowledgement may be lost with it. */
const lostWithinMs = 30_000;

let database: Database;
let cluster: Cluster;
let killPostgres: () => Promise<void>;
let account: AccountBody;
before(async () => {
  ({ database, cluster, killPostgres } = await shareMortalCluster(['all', 'all']));
  const own = await createRegistered(cluster.nodes[0] as ClusterNode, ['sms'], 'enterprise');
  // Those of a node that was killed count for ten seconds more.
  account = await createAccount(own, { binds: 2 * binds + 4 });
});

interface Ledger {
  /** The id that each text was answered with. */
  answered: Map<number, string>;
  /** When each receipt came, by the id that it names. */
  receipts: Map<string, number[]>;
  next: number;
  again: number[];
  stopped: boolean;
}

/** One program: binds to a node, submits what is left, acknowledges receipts, and binds anew when the connection ends. */
async function keepBound(ledger: Ledger, ports: number[], place: number): Promise<void> {
  for (let turn = place; !ledger.stopped; turn++) {
    await bindOnce(ledger, ports[turn % ports.length] ?? 0);
    await pause(100);
  }
}

function bindOnce(ledger: Ledger, port: number): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const frames = createFrameReader();
  const open = new Map<number, number>();
  let sequence = 1;
  const send = (pdu: Pdu) => void socket.write(encodePdu(pdu));

  function submit(): void {
    while (open.size < window) {
      const text = ledger.again.pop() ?? (ledger.next < count ? ledger.next++ : undefined);
      if (text === undefined) return;
      open.set(++sequence, text);
      send({
        ...textTo(`4477009${String(text % 100_000).padStart(5, '0')}`),
        command: 'submit_sm',
        status: 0,
        sequence,
      });
    }
  }

  function receive(pdu: Pdu): void {
    if (pdu.command === 'bind_transceiver_resp') {
      if (pdu.status === 0) submit();
      else socket.destroy();
    } else if (pdu.command === 'submit_sm_resp') {
      const text = open.get(pdu.sequence);
      open.delete(pdu.sequence);
      if (text === undefined) return;
      if (pdu.status === 0) ledger.answered.set(text, pdu.messageId);
      else ledger.again.push(text);
      if (pdu.status === 0) submit();
      else setTimeout(submit, 100);
    } else if (pdu.command === 'deliver_sm') {
      const id = findTlv(pdu.tlvs, tlvTags.receiptedMessageId)?.toString('latin1').replace('\0', '') ?? '';
      ledger.receipts.set(id, [...(ledger.receipts.get(id) ?? []), Date.now()]);
      send({ command: 'deliver_sm_resp', status: 0, sequence: pdu.sequence, messageId: '', tlvs: [] });
    } else if (pdu.command === 'enquire_link')
      send({ command: 'enquire_link_resp', status: 0, sequence: pdu.sequence });
    else if (pdu.command === 'unbind') send({ command: 'unbind_resp', status: 0, sequence: pdu.sequence });
  }

  return new Promise((resolve) => {
    const watch = setInterval(() => ledger.stopped && socket.destroy(), 50);
    socket.on('connect', () => {
      const who = { systemId: account.system_id, password: account.password, systemType: '', interfaceVersion: 0x34 };
      send({
        command: 'bind_transceiver',
        status: 0,
        sequence,
        ...who,
        addressTon: 0,
        addressNpi: 0,
        addressRange: '',
      });
    });
    socket.on('data', (chunk: Buffer) => {
      for (const frame of frames.read(chunk)) receive(decodePdu(frame).pdu);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(watch);
      // What was not answered may be kept or not: it is submitted again.
      ledger.again.push(...open.values());
      resolve();
    });
  });
}

async function killNode(place: number): Promise<void> {
  const node = cluster.nodes[place] ?? assert.fail('there is no such node');
  node.service.kill('SIGKILL');
  await node.service.ended;
  await pause(300);
  await node.restart();
}

test(`${count} submits over ${binds} binds on two nodes, with kills of a node and of Postgres`, async (t) => {
  const ledger: Ledger = { answered: new Map(), receipts: new Map(), next: 0, again: [], stopped: false };
  const ports = cluster.nodes.map(({ smppPort }) => smppPort);
  const programs = Promise.all(Array.from({ length: binds }, (_, place) => keepBound(ledger, ports, place)));
  const killsMs: number[] = [];
  const kill = async (act: () => Promise<void>) => {
    killsMs.push(Date.now());
    await act();
    killsMs.push(Date.now());
  };
  const inTurn = [() => killNode(1), killPostgres];
  const steps = Array.from({ length: inShort(1, 3) }, () => inTurn).flat();
  for (const [place, step] of steps.entries()) {
    const size = Math.floor((count * (place + 1)) / (steps.length + 1));
    await eventually(`${size} submits are answered`, () => ledger.answered.size >= size, { withinMs });
    await kill(step);
  }
  await eventually('every submit is answered', () => ledger.answered.size === count, { withinMs });
  const ids = [...ledger.answered.values()];
  assert.equal(new Set(ids).size, count, 'each has an id of its own');

  await eventually('every text has ended', async () => (await unfinished(ids)) === 0, {
    withinMs,
    everyMs: inShort(200, 3000),
  });
  await eventually('every receipt has come', () => ids.every((id) => ledger.receipts.has(id)), {
    withinMs,
    everyMs: inShort(20, 500),
  });
  const waiting = async () => {
    const { rows } = await database.query<{ count: number }>(
      'select count(*)::integer as count from smpp_delivery where owner = $1',
      [uuidOf(account.id)],
    );
    return rows[0]?.count;
  };
  await eventually('nothing waits', async () => (await waiting()) === 0, { withinMs, everyMs: 200 });
  ledger.stopped = true;
  await programs;

  const isNearKill = (ms: number) => killsMs.some((killMs) => Math.abs(killMs - ms) <= lostWithinMs);
  const copies = [...ledger.receipts.values()].filter(({ length }) => length > 1);
  for (const [first = 0] of copies) assert.ok(isNearKill(first), 'a copy comes only where an acknowledgement was lost');
  t.diagnostic(`${ledger.receipts.size} receipts, ${copies.length} of them more than once`);
});

/** How many of the texts are not kept, or have no end. */
async function unfinished(ids: string[]): Promise<number> {
  const { rows } = await database.query<{ ended: number }>(
    'select count(*)::integer as ended from message where id = any($1::uuid[]) and status >= 3',
    [ids.map(uuidOf)],
  );
  return ids.length - (rows[0]?.ended ?? 0);
}
