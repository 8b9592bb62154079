// Runs the service's own programs, from the package or from the project's folder.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runAndKeep } from './keep-running.mjs';
import { stopWithParent } from './stop-with-parent.mjs';

const home = new URL('../../', import.meta.url);
/** Builds stale files. The package contains built files, and neither this program nor a compiler. */
const builder = new URL('scripts/run.mjs', home);
const isProject = existsSync(builder);

/**
 * Runs the service in this process, so that signals reach it directly, unless the node has several processes. `args` as the service reads them: none of them
 * starts it, others name a command of the machine, like `['operator', 'you@example.com']`.
 */
export async function runService(args) {
  process.argv.splice(2, process.argv.length, ...args);
  if (isProject) {
    await import(builder.href);
    return;
  }
  stopWithParent();
  const program = args[0] === 'smsc' ? 'smsc' : 'main';
  const address = new URL(`dist/service/${program}.js`, home).href;
  if (args.length === 0) await runAndKeep(address);
  else await import(address);
}

/** In the project's folder the command line is built when its sources have changed. */
export function buildCommandLine() {
  if (!isProject) return;
  const { status } = spawnSync(process.execPath, [fileURLToPath(builder), '--build-only', 'cli/dist'], {
    // Standard output belongs to the command.
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** npm only warns about an old Node, and the errors that follow do not explain the cause. */
export function requireNode() {
  const { engines } = JSON.parse(readFileSync(new URL('package.json', home), 'utf8'));
  const wanted = /(\d+)\.(\d+)/.exec(engines.node).slice(1).map(Number);
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > wanted[0] || (major === wanted[0] && minor >= wanted[1])) return;
  process.stderr.write(`Heliograph needs Node ${wanted.join('.')} or newer. This is Node ${process.versions.node}.\n`);
  process.exit(1);
}
