// The processes of a test run: each runs one test file, or several together, on one HTTP lane.
import { dependsOn, isUnitTest } from './test-files.ts';
import { tagsOf } from './test-tags.ts';
import { expectedSeconds } from './test-times.ts';

export interface Job {
  name: string;
  files: string[];
  env: Record<string, string>;
}

/** The long form runs these folders on both lanes and on web processes; other files ask for it by a tag. */
const bothLanes = { short: ['test/socket/'], long: ['test/contract/', 'test/socket/', 'test/races/'] };
const webProcesses = ['test/socket/', 'test/races/', 'test/cluster/'];
/** A test that imports none of these sends no request, so it has no lane. */
const servers = ['test/support/app.ts', 'test/support/service.ts', 'test/socket/bare-server.ts'];

/** Fewer files than this run in a process each, so that their output names them. */
const fewFiles = 4;
/** To start a process, load the service and warm it up takes two seconds of CPU, which is more than many files need. */
const filesTogether = 48;

export function createJobs(files: string[], { unitJobs, long }: { unitJobs: number; long: boolean }): Job[] {
  const unit = files.filter(isUnitTest);
  const others = files.filter((file) => !isUnitTest(file)).map((file) => ({ file, ...tagsOf(file) }));
  const folders = long ? bothLanes.long : bothLanes.short;
  const onNodeLane = others
    .filter(({ file, onBothLanes }) => onBothLanes || isIn(file, folders))
    .map(({ file }) => file)
    .filter((file) => servers.some((server) => dependsOn(file, server)));
  if (long) {
    const again = others.filter(({ file, onWebProcesses }) => onWebProcesses || isIn(file, webProcesses));
    return slowestFirst([
      ...[...others.map(({ file }) => file), ...unit].map(createJob),
      ...onNodeLane.map(createJob).map(toNodeLane),
      ...again.map(({ file }) => createJob(file)).map(toProcesses),
    ]);
  }
  const filesOf = (group: string | undefined) =>
    others.filter((each) => !each.alone && each.group === group).map(({ file }) => file);
  const groups = [...new Set(others.flatMap(({ group }) => group ?? []))];
  const together = filesOf(undefined);
  return slowestFirst([
    ...others.filter(({ alone }) => alone).map(({ file }) => createJob(file)),
    ...groups.flatMap((name) => inParts(name, filesOf(name), 1, 2)),
    ...inParts('tests', together, Math.ceil(together.length / filesTogether)),
    ...inParts('tests', onNodeLane, Math.ceil(onNodeLane.length / filesTogether)).map(toNodeLane),
    ...inParts('unit tests', unit, unitJobs),
  ]);
}

function isIn(file: string, folders: string[]): boolean {
  return folders.some((folder) => file.startsWith(folder));
}

/** A slow job that starts last keeps one core busy while the others have nothing left to do. */
function slowestFirst(jobs: Job[]): Job[] {
  return jobs.toSorted((one, other) => expectedSeconds(other.files) - expectedSeconds(one.files));
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
