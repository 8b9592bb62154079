import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** What the program takes from its surroundings. */
export interface Environment {
  read(name: string): string | undefined;
  /** Where profiles are kept. */
  configFolder: string;
  /** Where the program keeps how far it has come. */
  stateFolder: string;
  /** The data folder of a service that was started here. */
  dataFolder: string;
  /** Undefined on Windows. */
  userId: number | undefined;
}

export function createEnvironment(env: NodeJS.ProcessEnv, folder: string): Environment {
  // An empty variable is one that is not set, as in most shells' scripts.
  const read = (name: string) => env[name] || undefined;
  return {
    read,
    configFolder: join(read('XDG_CONFIG_HOME') ?? join(homedir(), '.config'), 'heliograph'),
    stateFolder: join(read('XDG_STATE_HOME') ?? join(homedir(), '.local', 'state'), 'heliograph'),
    dataFolder: resolve(folder, read('HELIOGRAPH_DATA_DIR') ?? '.heliograph'),
    userId: process.geteuid?.(),
  };
}
