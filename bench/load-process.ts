import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Job, Outcome } from './load-generator.ts';

/** The load's process, which does one job at a time. */
export interface Load {
  /** `onOpen` is waited for when the connections stand and nothing is measured yet. */
  run(job: Job, onOpen?: () => Promise<void>): Promise<Outcome>;
  stop(): void;
  readonly pid: number | undefined;
}

export function startLoad(): Load {
  const child = fork(fileURLToPath(new URL('load-generator.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    serialization: 'advanced',
  });
  const next = () =>
    new Promise<unknown>((resolve, reject) => {
      const ended = () => reject(new Error('the load has ended'));
      child.once('exit', ended);
      child.once('message', (message) => {
        child.off('exit', ended);
        resolve(message);
      });
    });
  return {
    async run(job, onOpen) {
      child.send(job);
      await next();
      await onOpen?.();
      child.send('go');
      return (await next()) as Outcome;
    },
    stop: () => child.disconnect(),
    pid: child.pid,
  };
}
