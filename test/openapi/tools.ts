import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** Runs a tool of tools/openapi, as a person or a build would, and returns what it prints. */
export async function runTool(name: 'lint' | 'make-types', document: string): Promise<string> {
  const file = fileURLToPath(new URL(`../../tools/openapi/${name}.mjs`, import.meta.url));
  const tool = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise((resolve, reject) => {
    tool.on('error', reject);
    tool.on('close', resolve);
  });
  tool.stdin.end(document);
  const [reported, failed] = await Promise.all([text(tool.stdout), text(tool.stderr), ended]);
  if (failed !== '') throw new Error(failed);
  return reported;
}
