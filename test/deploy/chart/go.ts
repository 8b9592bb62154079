// Renders the chart by Go's own templates and sprig. scripts/system-needs.ts installs them.
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder } from '../../support/process.ts';
import { chartFolder, templates } from './rendered.ts';

const source = fileURLToPath(new URL('render.go', import.meta.url));

export async function compileRenderer(): Promise<(data: unknown) => Promise<Record<string, string>>> {
  const folder = makeFolder('go');
  const program = join(folder, 'render');
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(folder, 'cache') };
  await promisify(execFile)('go', ['build', '-o', program, source], { env, timeout: 600_000 });
  const files = Object.keys(templates).map((name) => join(chartFolder, 'templates', name));
  return async (data) => {
    const child = spawn(program, files, { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(JSON.stringify(data));
    return JSON.parse(await text(child.stdout)) as Record<string, string>;
  };
}
