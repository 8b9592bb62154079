// What one process of a test run does: one test file, or several together, and which HTTP lane serves them.
import { dependsOn, isUnitTest, lengthOf } from './test-files.ts';

export interface Job {
  name: string;
  files: string[];
  env: Record<string, string>;
}

/** The slowest come first: a slow file that starts last keeps the other cores waiting. */
const slowestFirst = ['test/faults/start', 'test/browser', 'test/cluster', 'test/faults', 'test/hostile', 'test/races'];

/** What a caller sees must not depend on the lane that served it. */
const bothLanes = ['test/contract/', 'test/socket/'];
const bothLanesInLong = [...bothLanes, 'test/races/'];
/** The portal's and operators' calls, commands, costs and upkeep: the lane is behind them, so the long form is enough. */
const behindTheLane =
  /\/(?:operator|portal|carrier|demo|sandbox)-|-(?:cost|upkeep|retention)\.|\/(?:retention|senders|spend|templates|many-keys)\./;
/** A test that imports none of these sends no request, so it has no lane. */
const servers = ['test/support/app.ts', 'test/support/service.ts', 'test/socket/bare-server.ts'];

/** Fewer files than this run in a process each, so that their output names them. */
const fewFiles = 4;
/** To start a process takes longer than most files do; more files than this would keep one core busy at the end. */
const filesTogether = 8;
/** Files of other folders start processes that need the cores, or end them: they do not share one. */
const sharing = ['test/contract/', 'test/socket/', 'test/parts/', 'test/races/', 'test/providers/', 'test/smpp/'];

export function createJobs(files: string[], { unitJobs, long }: { unitJobs: number; long: boolean }): Job[] {
  const unit = files.filter(isUnitTest);
  const others = files.filter((file) => !isUnitTest(file)).toSorted(bySpeed);
  const seen = others.filter((file) => bothLanes.some((folder) => file.startsWith(folder)));
  const twice = long
    ? others.filter((file) => bothLanesInLong.some((folder) => file.startsWith(folder)))
    : seen.filter((file) => !behindTheLane.test(file));
  const onNodeLane = twice.filter((file) => servers.some((server) => dependsOn(file, server)));
  if (long) return [...others, ...unit].map(createJob).concat(onNodeLane.map(createJob).map(toNodeLane));
  const together = others.filter((file) => sharing.some((folder) => file.startsWith(folder)));
  return [
    ...others.filter((file) => !together.includes(file)).map(createJob),
    ...inParts('tests', together, Math.ceil(together.length / filesTogether)),
    ...inParts('tests', onNodeLane, Math.ceil(onNodeLane.length / filesTogether)).map(toNodeLane),
    ...inParts('unit tests', unit, unitJobs),
  ];
}

function createJob(file: string): Job {
  return { name: file, files: [file], env: {} };
}

function toNodeLane(job: Job): Job {
  return { ...job, name: `${job.name} (node lane)`, env: { HELIOGRAPH_HTTP_LANE: 'node' } };
}

/** A long file mostly runs longer, so each part gets files of all lengths. */
function inParts(name: string, files: string[], count: number): Job[] {
  if (files.length < fewFiles) return files.map(createJob);
  const longestFirst = files.toSorted((one, other) => lengthOf(other) - lengthOf(one));
  return Array.from({ length: count }, (_, part) => {
    const share = longestFirst.filter((_, index) => index % count === part);
    return { name: `${name}, part ${part + 1} of ${count} (${share.length} files)`, files: share, env: {} };
  });
}

function bySpeed(one: string, other: string): number {
  return rankOf(one) - rankOf(other) || (one < other ? -1 : 1);
}

function rankOf(file: string): number {
  const rank = slowestFirst.findIndex((start) => file.startsWith(start));
  return rank === -1 ? slowestFirst.length : rank;
}
