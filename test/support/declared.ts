import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestApp } from './app.ts';
import { runIn } from './commands.ts';

export interface Ran {
  /** All that it printed. */
  text: string;
  /** 0 unless the command said another. */
  code: number;
}

/** The commands of declared configuration, with files in a folder of their own. */
export interface DeclaredFiles {
  folder: string;
  write(file: unknown, name?: string): Promise<string>;
  run(command: string, ...args: string[]): Promise<Ran>;
  plan(file: unknown, ...flags: string[]): Promise<Ran>;
  apply(file: unknown, ...flags: string[]): Promise<Ran>;
  export(): Promise<Record<string, unknown[]>>;
  read(name: string): Promise<unknown>;
  remove(): Promise<void>;
}

/** `onSay` hears what is printed on the way. */
export async function createDeclaredFiles(
  app: TestApp,
  env: Record<string, string> = {},
  onSay: (text: string) => void = () => {},
): Promise<DeclaredFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-declared-'));
  let files = 0;

  async function run(command: string, ...args: string[]): Promise<Ran> {
    const said: string[] = [];
    let code = 0;
    const exitWith = (given: number) => {
      code = given;
    };
    const say = (text: string) => {
      said.push(text);
      onSay(text);
    };
    const last = await runIn({ env, say, exitWith }, app, command, ...args);
    return { text: [...said, last].join('\n'), code };
  }

  async function write(file: unknown, name = `file-${++files}.json`): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, typeof file === 'string' ? file : JSON.stringify(file));
    return path;
  }

  return {
    folder,
    write,
    run,
    plan: async (file, ...flags) => run('plan', await write(file), ...flags),
    apply: async (file, ...flags) => run('apply', await write(file), ...flags),
    export: async () => JSON.parse((await run('export')).text) as Record<string, unknown[]>,
    read: async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as unknown,
    remove: () => rm(folder, { recursive: true }),
  };
}
