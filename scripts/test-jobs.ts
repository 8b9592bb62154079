// What one process of a test run does: one test file, or several together, and which HTTP lane serves them.
import { dependsOn, isUnitTest, textOf } from './test-files.ts';
import { expectedSeconds } from './test-times.ts';

export interface Job {
  name: string;
  files: string[];
  env: Record<string, string>;
}

/** What a caller sees must not depend on the lane that served it. */
const bothLanes = ['test/contract/', 'test/socket/'];
const bothLanesInLong = [...bothLanes, 'test/races/'];
/**
 * The lane reads a request and writes an answer; the rules behind it never learn which lane it was. So in `npm test` the
 * second lane serves the tests of exactly that: those that open a connection themselves, read a stream or wait for events, and those that
 * look at the heads of answers in several places. every-response.test.ts, one of them, gets each status of each route.
 */
const opensConnections = /raw-connection\.ts'|bare-server\.ts'|from 'node:(?:net|http)'|event-stream|wait_seconds/;
const severalHeads = 6;
/** A test that imports none of these sends no request, so it has no lane. */
const servers = ['test/support/app.ts', 'test/support/service.ts', 'test/socket/bare-server.ts'];

/**
 * What must also hold where several processes answer (decision 0027): the edge with its windows in a parent, and real
 * services with two web processes each. In `npm run test:long`; test/processes/ has the short form.
 */
const onProcesses = [
  ...['test/contract/limits.', 'test/contract/specification-limits.', 'test/contract/every-response.', 'test/socket/'],
  ...['test/contract/identity', 'test/contract/errors.', 'test/contract/many-keys.', 'test/races/'],
  ...['test/faults/restart.', 'test/faults/exhaustion.', 'test/faults/delivery-crash.', 'test/faults/events-ledger.'],
  ...['test/faults/failover-ledger.', 'test/faults/cluster-chaos.', 'test/faults/nodes.', 'test/faults/smpp-ledger.'],
  ...['test/faults/verification-crash.', 'test/cluster/'],
];

/** Fewer files than this run in a process each, so that their output names them. */
const fewFiles = 4;
/** To start a process, load the service and warm it up takes two seconds of CPU, which is more than many files need. */
const filesTogether = 24;
/** Other files start processes that need the cores, or end them: they do not share one, but for the groups below. */
const sharing = [
  ...['test/contract/', 'test/socket/', 'test/parts/', 'test/races/', 'test/providers/', 'test/smpp/'],
  ...['test/documents.', 'test/structure.', 'test/portal-words.', 'test/openapi/document.', 'test/openapi/examples.'],
  ...['test/sdk/client.', 'test/sdk/connections.', 'test/hostile/bounds.', 'test/hostile/known.'],
  ...['test/cluster/streams.', 'test/cluster/delivery-wake.', 'test/cluster/change-feed.', 'test/faults/batch.'],
  ...['test/faults/database.', 'test/faults/disk-full.', 'test/faults/flood.', 'test/faults/registration.'],
  ...['test/faults/signing-thread.', 'test/faults/webhooks.', 'test/faults/window-store.'],
];

/** Each group is one process, whose files share what is slow to start. */
const groups: Record<string, string[]> = {
  // A browser and a service (test/browser/browser.ts).
  pages: ['account', 'journey', 'pages', 'reference', 'webhooks'].map((name) => `test/browser/${name}.`),
  // A browser. They change carriers, or take part in production, so each has a service of its own.
  'pages of operators': ['carriers', 'operator', 'pictures'].map((name) => `test/browser/${name}.`),
  // The nodes of a cluster (test/support/shared-cluster.ts).
  cluster: ['changes-on-every-node', 'limits', 'routes-on-every-node'].map((name) => `test/cluster/${name}.`),
  // Nodes and a Postgres that they kill (test/support/mortal-cluster.ts).
  kills: ['test/faults/cluster-chaos.', 'test/faults/events-ledger.'],
  // They start and end one small service after the other, so that no two of them need the cores at once.
  services: [
    ...['test/faults/crash.', 'test/faults/exhaustion.', 'test/faults/restart.', 'test/faults/verification-crash.'],
    ...['test/faults/backup.', 'test/sdk/restart.'],
  ],
};

export function createJobs(files: string[], { unitJobs, long }: { unitJobs: number; long: boolean }): Job[] {
  const unit = files.filter(isUnitTest);
  const others = files.filter((file) => !isUnitTest(file));
  const seen = others.filter((file) => bothLanes.some((folder) => file.startsWith(folder)));
  const twice = long
    ? others.filter((file) => bothLanesInLong.some((folder) => file.startsWith(folder)))
    : seen.filter(seesTheLane);
  const onNodeLane = twice.filter((file) => servers.some((server) => dependsOn(file, server)));
  if (long) {
    const again = others.filter((file) => onProcesses.some((start) => file.startsWith(start)));
    return slowestFirst([
      ...[...others, ...unit].map(createJob),
      ...onNodeLane.map(createJob).map(toNodeLane),
      ...again.map(createJob).map(toProcesses),
    ]);
  }
  const startingWith = (starts: string[]) => others.filter((file) => starts.some((start) => file.startsWith(start)));
  const together = startingWith(sharing);
  const grouped = Object.entries(groups).map(([name, starts]) => ({ name, files: startingWith(starts) }));
  const inOneProcess = new Set([...together, ...grouped.flatMap((group) => group.files)]);
  return slowestFirst([
    ...others.filter((file) => !inOneProcess.has(file)).map(createJob),
    ...grouped.flatMap(({ name, files }) => inParts(name, files, 1, 2)),
    ...inParts('tests', together, Math.ceil(together.length / filesTogether)),
    ...inParts('tests', onNodeLane, Math.ceil(onNodeLane.length / filesTogether)).map(toNodeLane),
    ...inParts('unit tests', unit, unitJobs),
  ]);
}

/** A slow job that starts last keeps one core busy while the others have nothing left to do. */
function slowestFirst(jobs: Job[]): Job[] {
  return jobs.toSorted((one, other) => expectedSeconds(other.files) - expectedSeconds(one.files));
}

function seesTheLane(file: string): boolean {
  const text = textOf(file);
  return opensConnections.test(text) || text.split('headers.get(').length > severalHeads;
}

function createJob(file: string): Job {
  return { name: file, files: [file], env: {} };
}

function toNodeLane(job: Job): Job {
  return { ...job, name: `${job.name} (node lane)`, env: { HELIOGRAPH_HTTP_LANE: 'node' } };
}

function toProcesses(job: Job): Job {
  return { ...job, name: `${job.name} (processes)`, env: { HELIOGRAPH_TEST_PROCESSES: '2' } };
}

/** Each file goes to the part that has the least to do so far, the slowest file first: so the parts end up even. */
function inParts(name: string, files: string[], count: number, least = fewFiles): Job[] {
  if (files.length < least) return files.map(createJob);
  const parts = Array.from({ length: count }, (): string[] => []);
  for (const file of files.toSorted((one, other) => expectedSeconds([other]) - expectedSeconds([one]))) {
    parts.reduce((least, part) => (expectedSeconds(part) < expectedSeconds(least) ? part : least)).push(file);
  }
  return parts.map((share, part) => ({
    name: `${name}${count > 1 ? `, part ${part + 1} of ${count}` : ''} (${share.length} files)`,
    files: share,
    env: {},
  }));
}
