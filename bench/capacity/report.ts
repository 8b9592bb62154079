import { cpus } from 'node:os';
import { assumed, type Cost, count, fitsOn, gigabytes, type Load, type Measured, type Plan, planFor } from './plan.ts';

const paperCores = [16, 64];

/** What was measured, what the loads need, how one of them was computed, and larger machines on paper. */
export function capacityReport(measured: Measured, { shown, all }: { shown: Load; all: Load[] }): string {
  const plans = all.map((load) => planFor(measured, load));
  const { steps } = planFor(measured, shown);
  const width = Math.max(...steps.map(({ what }) => what.length)) + 2;
  return [
    `Measured on ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}:`,
    measuredTable(measured),
    'What a load needs, in its busiest minute. A core is used to six tenths, so that answers stay quick:',
    table(loadHead, plans.map(loadRow)),
    `How this was computed for ${count(shown.textsPerSecond)} texts and ${count(shown.codesPerSecond)} codes a second:`,
    steps.map(({ what, arithmetic }) => `  ${what.padEnd(width)}${arithmetic}`).join('\n'),
    'On paper, with everything on one machine. Nothing of this was run: shared caches, locks and disks cost more there:',
    table(
      ['machine', ...loadHead],
      paperCores.map((cores) => [`${cores} cores`, ...loadRow(fitsOn(measured, cores, shown.carrierRate))]),
    ),
    cellsText,
    assumptions(measured),
  ].join('\n\n');
}

const acts: [string, (measured: Measured) => Cost][] = [
  ['a text accepted', ({ accept }) => accept],
  ['a text delivered', ({ deliver }) => deliver],
  ['a code started', ({ start }) => start],
  ['a code checked', ({ check }) => check],
  ['a token', ({ token }) => token],
  ['a read', ({ read }) => read],
  ['a list page', ({ list }) => list],
];

function measuredTable(measured: Measured): string {
  const rows = acts.map(([name, of]) => [name, `${count(of(measured).node)} µs`, `${count(of(measured).postgres)} µs`]);
  const { commitMs, textBytes, codeBytes, textWalBytes, codeWalBytes } = measured;
  return [
    table(['', 'Node', 'Postgres'], rows),
    `  A text takes ${count(textBytes)} bytes on disk and ${count(textWalBytes)} of Postgres's log; a code with its text ${count(codeBytes)} and ${count(codeWalBytes)}.`,
    `  A caller that is alone gets its answer after ${commitMs.toFixed(1)} ms (median), most of it one commit.`,
  ].join('\n');
}

const loadHead = [
  'texts/s',
  'codes/s',
  'web processes',
  'nodes',
  'cores Node',
  'cores Postgres',
  'Redis',
  'connections',
  'binds',
  'disk a day',
  'cells',
];

function loadRow(plan: Plan): string[] {
  const { load, redisCores } = plan;
  return [
    count(load.textsPerSecond),
    count(load.codesPerSecond),
    count(plan.webProcesses),
    count(plan.deliveryThreads),
    plan.nodeCores.toFixed(1),
    plan.postgresCores.toFixed(1),
    redisCores === 0 ? 'none' : `${redisCores.toFixed(1)} cores`,
    count(plan.connections),
    count(plan.binds),
    gigabytes(plan.diskBytesPerDay),
    count(plan.cells),
  ];
}

const cellsText = `Cells: where one Postgres ends, accounts are divided among cells, each with its own Postgres, Redis and nodes. Applications
share nothing with each other, so a cell needs no other. Shared are the balancer, which chooses the cell by the key or
token, the people who sign in to the portal, and each carrier's account: its rate is divided among the cells.`;

function assumptions({ textWalBytes }: Measured): string {
  const share = (value: number) => `${Math.round(100 * value)} %`;
  const byLog = assumed.postgresWalBytes / Math.max(1, textWalBytes);
  return [
    'Assumed, not measured:',
    `  A core is busy to ${share(assumed.busyShare)}. The busy hour has ${assumed.busyHour} times the average, for the disk.`,
    `  A code is checked ${assumed.checksPerCode} times; ${share(assumed.readsPerText)} of texts are read once; a list page for every ${1 / assumed.listsPerText}th text; a token for every ${1 / assumed.tokensPerCode}th code.`,
    `  Several web processes ask their parent for each window: ${assumed.parentMicroseconds} µs. Redis takes ${assumed.redisMicroseconds} µs for one.`,
    `  A node has one delivery thread, and more nodes than one need a Redis. A node takes ${assumed.connectionsPerNode} connections.`,
    `  One Postgres ends at ${assumed.postgresCores} cores or ${count(assumed.postgresWalBytes / 1e6)} MB of log a second, which is ${count(byLog)} texts a second here.`,
    '  Texts of one segment. Events and webhooks come on top: about 10 % for a text whose application listens, and 0.4 ms of',
    '  Node for each call of a webhook (docs/performance.md).',
  ].join('\n');
}

function table(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: string[]) =>
    `  ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')}`;
  return [line(head), ...rows.map(line)].join('\n');
}
