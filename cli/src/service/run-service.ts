import { projectFolder } from '../version.ts';

/**
 * Runs the service's own program in this process, so that signals reach it directly. It never returns: the program ends
 * the process.
 */
export async function runService(args: readonly string[]): Promise<never> {
  // The program has its own signal handlers.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  const runner = (await import(new URL('cli/bin/service.mjs', projectFolder).href)) as {
    runService(args: readonly string[]): Promise<void>;
  };
  await runner.runService(args);
  return new Promise(() => {});
}
