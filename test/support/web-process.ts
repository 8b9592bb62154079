import { Duplex } from 'node:stream';
import type { AppOptions } from '../../src/app.ts';
import { createNodeWindows } from '../../src/edge/node-windows.ts';
import { createParentWindows } from '../../src/edge/parent-windows.ts';
import { keepWindows } from '../../src/edge/window-keeper.ts';
import { createStreamPlaces } from '../../src/http/streams/stream-places.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createMetrics } from '../../src/platform/metrics/metrics.ts';

/** The test runner runs some tests of the edge as a web process serves them: its windows are in a parent. */
export const isWebProcess = process.env.HELIOGRAPH_TEST_PROCESSES !== undefined;

/** How many processes answer for each node that a test starts. */
export const webProcesses = Number(process.env.HELIOGRAPH_TEST_PROCESSES ?? 1);

/** The two ends of a channel. */
export function createChannel(): { child: Duplex; parent: Duplex } {
  const child: Duplex = new Duplex({
    read() {},
    write(bytes: Buffer, _, done) {
      parent.push(bytes);
      done();
    },
  });
  const parent: Duplex = new Duplex({
    read() {},
    write(bytes: Buffer, _, done) {
      child.push(bytes);
      done();
    },
  });
  return { child, parent };
}

/** What an app gets as a web process: windows behind a channel, with the parent in the same process and on its clock. */
export function webProcessOf(clock: Clock): Pick<AppOptions, 'metrics' | 'windows' | 'node'> {
  const metrics = createMetrics();
  const { child, parent } = createChannel();
  const onBroken = (error: Error) => {
    throw error;
  };
  keepWindows(parent, { windows: createNodeWindows(clock, metrics), machineAheadMs: 0, onBroken });
  // A test turns its clock by hours while a question is on its way: that is not the parent's silence.
  const { windows, isAnswering } = createParentWindows(child, { clock, machineAheadMs: 0, withinMs: 1e9 });
  const places = createStreamPlaces();
  return { metrics, windows, node: { isAnswering, processes: () => ({ wanted: 2, serving: 2 }), places } };
}
