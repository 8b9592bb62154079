// The Python client, used by the system's own Python. scripts/system-needs.ts installs it.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Driver, Outcome } from './driver.ts';
import { clientsFolder } from './table.ts';

const folder = `${clientsFolder}/python`;
export const python = '/usr/bin/python3';
export const pythonEnvironment = { ...process.env, PYTHONPATH: `${folder}/src`, PYTHONDONTWRITEBYTECODE: '1' };

/** What a program in Python printed. */
export async function runPython(...args: string[]): Promise<string> {
  const options = { cwd: folder, env: pythonEnvironment, timeout: 120_000 };
  const { stdout, stderr } = await promisify(execFile)(python, args, options);
  return stdout + stderr;
}

export function createPythonDriver(): Driver {
  const waiting = new Map<number, (outcome: Outcome) => void>();
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> | undefined;
  let count = 0;

  function start(): ChildProcess {
    const started = spawn(python, ['tests/driver.py'], { cwd: folder, env: pythonEnvironment });
    started.stderr.pipe(process.stderr);
    createInterface(started.stdout).on('line', (line) => {
      const { id, ...outcome } = JSON.parse(line) as Outcome & { id: number };
      waiting.get(id)?.(outcome);
      waiting.delete(id);
    });
    ended = new Promise((resolve) => started.on('close', resolve)).then(() => {
      for (const answer of waiting.values()) answer({ error: { class: 'unexpected', message: 'Python has ended' } });
    });
    return started;
  }

  return {
    language: 'Python',
    run(client, call) {
      child ??= start();
      const id = count++;
      child.stdin?.write(`${JSON.stringify({ id, client, ...call })}\n`);
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    calls: async () => JSON.parse(await runPython('tests/driver.py', 'calls')) as string[],
    async end() {
      child?.stdin?.end();
      await ended;
    },
  };
}
