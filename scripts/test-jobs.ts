// What one process of a test run does: one test file, the same file on the other HTTP lane, or many unit tests together.
import { dependsOn, isUnitTest } from './test-files.ts';

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
/** A test that imports none of these sends no request, so it has no lane. */
const servers = ['test/support/app.ts', 'test/support/service.ts', 'test/socket/bare-server.ts'];

/** Fewer unit tests than this run as a file each, so that their output names them. */
const fewUnitTests = 4;

export function createJobs(files: string[], { unitJobs, long }: { unitJobs: number; long: boolean }): Job[] {
  const unit = files.filter(isUnitTest);
  const others = files.filter((file) => !isUnitTest(file)).toSorted(bySpeed);
  const twice = long ? bothLanesInLong : bothLanes;
  const onNodeLane = others
    .filter((file) => twice.some((folder) => file.startsWith(folder)))
    .filter((file) => servers.some((server) => dependsOn(file, server)));
  return [
    ...others.map(createJob),
    ...(long ? unit.map(createJob) : createUnitJobs(unit, unitJobs)),
    ...onNodeLane.map((file) => ({
      name: `${file} (node lane)`,
      files: [file],
      env: { HELIOGRAPH_HTTP_LANE: 'node' },
    })),
  ];
}

function createJob(file: string): Job {
  return { name: file, files: [file], env: {} };
}

/** Unit tests share a few processes: to start one takes longer than most of them do. */
function createUnitJobs(files: string[], count: number): Job[] {
  if (files.length < fewUnitTests) return files.map(createJob);
  return Array.from({ length: count }, (_, part) => {
    const share = files.filter((_, index) => index % count === part);
    return { name: `unit tests, part ${part + 1} of ${count} (${share.length} files)`, files: share, env: {} };
  });
}

function bySpeed(one: string, other: string): number {
  return rankOf(one) - rankOf(other) || (one < other ? -1 : 1);
}

function rankOf(file: string): number {
  const rank = slowestFirst.findIndex((start) => file.startsWith(start));
  return rank === -1 ? slowestFirst.length : rank;
}
