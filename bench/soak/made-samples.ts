import type { Sample, Watched } from './samples.ts';

/** Numbers from 0 to 1 that look random and are the same in every run, for tests of the arithmetic. */
export function createSequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What a made run adds with each minute. */
export interface MadeRun {
  minutes: number;
  heapPerMinute?: number;
  residentPerMinute?: number;
  descriptorsPerMinute?: number;
  postgresPerMinute?: number;
  /** Bytes that each row of `message` takes more, and bytes that the queue keeps. */
  rowBytesPerMinute?: number;
  queueBytesPerMinute?: number;
}

/** Samples as a service would give them that collects garbage, and is busy or not. */
export function makeWatched(made: MadeRun): Watched {
  const random = createSequence(3);
  const watched: Watched = { samples: [], sizes: [] };
  for (let seconds = 0; seconds <= made.minutes * 60; seconds += 5) {
    const minute = seconds / 60;
    const atMs = seconds * 1000;
    const grown = (perMinute = 0) => perMinute * minute;
    const sample: Sample = {
      atMs,
      fault: undefined,
      residentBytes: 2.2e8 + 1e7 * random() + grown(made.residentPerMinute),
      heapBytes: 6e7 + 3e7 * ((minute * 2.3) % 1) + 3e6 * random() + grown(made.heapPerMinute),
      descriptors: Math.round(120 + 6 * random() + grown(made.descriptorsPerMinute)),
      lagMs: 12,
      postgresBytes: 1.5e8 + 5e6 * random() + grown(made.postgresPerMinute),
      postgresProcesses: 40 + Math.round(random()),
      perSecond: 100,
      times: {},
      cpu: { service: 0.3, postgres: 0.2, load: 0.1 },
    };
    watched.samples.push(sample);
    if (seconds % 15 !== 0) continue;
    const inserted = 60 * seconds;
    const rowBytes = 900 + 20 * random() + grown(made.rowBytesPerMinute);
    const queueBytes = 6e6 + 4e5 * random() + grown(made.queueBytesPerMinute);
    watched.sizes.push({
      atMs,
      tables: [
        { name: 'message', tableBytes: inserted * rowBytes, indexBytes: inserted * 300, inserted, deleted: 0 },
        { name: 'delivery_queue', tableBytes: queueBytes, indexBytes: 1e6, inserted, deleted: inserted },
        { name: 'plan', tableBytes: 8192 * (1 + minute), indexBytes: 8192, inserted: 3, deleted: 0 },
      ],
    });
  }
  return watched;
}
