import { execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/process.ts';
import { program } from './world.ts';

const execute = promisify(execFile);

/** A window of a real terminal, with bash in it. */
export interface Window {
  /** Types a line, and Enter. */
  type(line: string): Promise<void>;
  /** Types without Enter, or presses a key by its name in tmux, like Tab. */
  write(text: string): Promise<void>;
  press(...keys: string[]): Promise<void>;
  /** What a person sees. */
  screen(): Promise<string>;
  /** With the codes of colours. */
  styledScreen(): Promise<string>;
  title(): Promise<string>;
  /** Waits until the screen shows it, and returns what was found. */
  shows(pattern: RegExp): Promise<RegExpExecArray>;
  clear(): Promise<void>;
}

export interface Terminal {
  open(size: { columns: number; rows: number }): Promise<Window>;
  close(): Promise<void>;
}

/** tmux as a program of its own, which ends with the test. In it, `heliograph` is the command line. */
export async function createTerminal(folder: string, env: Record<string, string>): Promise<Terminal> {
  const home = makeFolder('tmux');
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin/heliograph'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, {
    mode: 0o755,
  });
  writeFileSync(join(home, 'bashrc'), "PS1='ready> '\nsource <(heliograph completion bash)\n");
  const own = {
    ...env,
    PATH: `${join(home, 'bin')}:${env.PATH}`,
    TMUX_TMPDIR: home,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
  };
  const tmux = async (...args: string[]) =>
    (await execute('tmux', ['-u', '-f', '/dev/null', ...args], { env: own })).stdout;
  // In the foreground: a server in the background would outlive a test that is killed.
  const server = spawn('tmux', ['-u', '-f', '/dev/null', '-D'], { env: own, cwd: folder, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await eventually(
    'tmux answers',
    () =>
      tmux('start-server').then(
        () => true,
        () => false,
      ),
    { everyMs: 50 },
  );
  let count = 0;

  return {
    async open({ columns, rows }) {
      const target = `window${count++}`;
      const shell = `bash --noprofile --rcfile '${join(home, 'bashrc')}' -i`;
      await tmux('new-session', '-d', '-s', target, '-c', folder, '-x', String(columns), '-y', String(rows), shell);
      const window: Window = {
        write: async (text) => void (await tmux('send-keys', '-t', target, '-l', '--', text)),
        press: async (...keys) => void (await tmux('send-keys', '-t', target, ...keys)),
        type: async (line) => {
          await window.write(line);
          await window.press('Enter');
        },
        screen: () => tmux('capture-pane', '-p', '-t', target),
        styledScreen: () => tmux('capture-pane', '-p', '-e', '-t', target),
        title: async () => (await tmux('display-message', '-p', '-t', target, '#{pane_title}')).trim(),
        shows: async (pattern) => {
          let found: RegExpExecArray | null = null;
          let last = '';
          const polled = eventually(
            `the terminal shows ${pattern}`,
            async () => {
              last = await window.screen();
              found = pattern.exec(last);
              return found !== null;
            },
            { everyMs: 150 },
          );
          await polled.catch((error: Error) => {
            throw new Error(`${error.message}. It shows:\n${last.trimEnd()}`);
          });
          if (found === null) throw new Error('nothing was found');
          return found;
        },
        clear: async () => {
          await window.shows(/ready>$/m);
          await window.type('clear');
          await eventually('the terminal is clear', async () => /^ready>\s*$/.test(await window.screen()), {
            everyMs: 50,
          });
        },
      };
      await window.shows(/ready>/);
      return window;
    },

    async close() {
      await tmux('kill-server').catch(() => {});
      server.kill('SIGTERM');
      await ended;
    },
  };
}
