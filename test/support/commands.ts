import { runCommand } from '../../src/commands/commands.ts';
import type { TestApp } from './app.ts';

/** A command on the machine, beside the service, and what it prints at its end. */
export function run(app: TestApp, command: string, ...args: string[]): Promise<string> {
  return runIn({}, app, command, ...args);
}

/** The same with variables of the environment, and with a reader of what it prints on its way. */
export function runIn(
  {
    env = {},
    say = () => {},
    exitWith = () => {},
  }: { env?: Record<string, string>; say?: (text: string) => void; exitWith?: (code: number) => void },
  app: TestApp,
  command: string,
  ...args: string[]
): Promise<string> {
  const { config, clock, keys } = app;
  const { database } = app.db;
  const readEnv = (name: string) => env[name];
  const interrupted = new AbortController().signal;
  return runCommand(command, args, {
    ...{ config, clock, database, keys, say, readEnv, exitWith, interrupted },
    colour: false,
    secret: config.secret ?? '',
  });
}
