import { createLog, type Log } from '../platform/log.ts';

/** For parts that log beside a command: what matters is printed or thrown. */
export function createSilentLog(): Log {
  return createLog({ level: 'silent', readable: false, to: { write() {} } });
}
