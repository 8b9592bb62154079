import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';
import { transformSync } from 'esbuild';

export interface Call {
  args: string[];
  stdin?: string | undefined;
  env: Record<string, string>;
  folder: string;
}

type Program = (process: object, require: NodeJS.Require) => void;
let program: Program | undefined;

/**
 * Runs the built command line here, with a `process` of its own and fresh modules: a process of its own costs ten times as
 * much. Nothing can signal it, and it has no terminal.
 */
export function runInProcess(file: string, call: Call): Promise<{ code: number; stdout: string; stderr: string }> {
  program ??= compile(file);
  const [stdout, stderr] = [collector(), collector()];
  return new Promise((done) => {
    const own: Record<string | symbol, unknown> = {
      argv: [process.execPath, file, ...call.args],
      env: call.env,
      cwd: () => resolve(call.folder),
      stdin: Readable.from(call.stdin === undefined || call.stdin === '' ? [] : [Buffer.from(call.stdin)]),
      stdout: stdout.stream,
      stderr: stderr.stream,
      on: () => {},
      exit: (code: number) => done({ code, stdout: stdout.text(), stderr: stderr.text() }),
    };
    const here = new Proxy(process, { get: (target, name) => (name in own ? own[name] : Reflect.get(target, name)) });
    program?.(here, createRequire(file));
  });
}

function compile(file: string): Program {
  const { code } = transformSync(readFileSync(file, 'utf8'), {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    define: { 'import.meta': JSON.stringify({ url: pathToFileURL(file).href }) },
  });
  return compileFunction(`const module = { exports: {} };${code}`, ['process', 'require'], {
    filename: file,
  }) as Program;
}

function collector() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, written) {
      chunks.push(chunk);
      written();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}
