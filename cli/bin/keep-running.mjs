// Starts the service, and restarts it after a crash: one of a node's processes can be killed on its own.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';

const keptNode = fileURLToPath(new URL('./kept-node.mjs', import.meta.url));
/** An exit sooner than this is a failed start, which would fail again. A later one is a crash. */
const startsWithinMs = 30_000;
/** Maximum number of restarts in a row after such short runs. */
const mostShortRuns = 3;

/** Runs the program in this process or, if the node has several processes, in a child that is restarted after a crash. */
export async function runAndKeep(program) {
  if (hasOneProcess()) await import(program);
  else keep(program);
}

function hasOneProcess() {
  const file = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {};
  return ['', '1'].includes(process.env.HELIOGRAPH_PROCESSES ?? file.HELIOGRAPH_PROCESSES ?? '');
}

function keep(program) {
  let node;
  let stopping = false;
  let shortRuns = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      stopping = true;
      node.kill(signal);
    });
  }

  function start() {
    const startedMs = performance.now();
    node = spawn(process.execPath, [keptNode, program], { stdio: 'inherit' });
    node.on('error', (error) => {
      process.stderr.write(`\nHeliograph could not start.\n${error.message}\n`);
      process.exit(1);
    });
    node.on('exit', (code, signal) => {
      const ranMs = performance.now() - startedMs;
      shortRuns = ranMs < startsWithinMs ? shortRuns + 1 : 0;
      const hasDied = signal !== null || (code !== 0 && ranMs >= startsWithinMs);
      if (stopping || !hasDied || shortRuns > mostShortRuns) process.exit(code ?? 1);
      process.stderr.write(`\nHeliograph ended (${signal ?? `exit code ${code}`}). Restarting it.\n`);
      start();
    });
  }
  start();
}
