import { runCommand } from '../../src/commands.ts';
import type { TestApp } from './app.ts';

/** A command on the machine, beside the service, and what it prints. */
export function run(app: TestApp, command: string, ...args: string[]): Promise<string> {
  const { config, clock, keys } = app;
  const { database } = app.db;
  return runCommand(command, args, { config, clock, database, keys, secret: config.secret ?? '', say: () => {} });
}
