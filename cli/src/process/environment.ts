import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The environment of the program. */
export interface Environment {
  read(name: string): string | undefined;
  /** The folder of profiles. */
  configFolder: string;
  /** The folder of forwarding positions. */
  stateFolder: string;
  /** The data folder of a service that was started here. */
  dataFolder: string;
  /** Undefined on Windows. */
  userId: number | undefined;
}

export function createEnvironment(env: NodeJS.ProcessEnv, folder: string): Environment {
  // An empty variable counts as unset, as in most shell scripts.
  const read = (name: string) => env[name] || undefined;
  return {
    read,
    configFolder: join(read('XDG_CONFIG_HOME') ?? join(homedir(), '.config'), 'heliograph'),
    stateFolder: join(read('XDG_STATE_HOME') ?? join(homedir(), '.local', 'state'), 'heliograph'),
    dataFolder: resolve(folder, read('HELIOGRAPH_DATA_DIR') ?? '.heliograph'),
    userId: process.geteuid?.(),
  };
}
