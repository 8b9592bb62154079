import { createLog, type Log } from '../../src/platform/log.ts';

export interface TestLog {
  log: Log;
  /** Every line so far, as it would stand in the log. */
  lines: string[];
}

export function createTestLog(): TestLog {
  const lines: string[] = [];
  return { lines, log: createLog({ level: 'trace', readable: false, to: { write: (line) => void lines.push(line) } }) };
}
