// Runs samples of the reference as a reader would: with a shell, Node, Python, PHP and Go.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { Language } from '../../portal/src/docs/samples/languages.ts';
import { makeFolder } from './process.ts';

const client = fileURLToPath(new URL('../../sdk/src/index.ts', import.meta.url));
/** Where Python finds our client. */
const env = { ...process.env, PYTHONPATH: fileURLToPath(new URL('../../clients/python/src', import.meta.url)) };
const mark = '=== ';

export interface SampleText {
  id: string;
  text: string;
}

/** Where a program is not installed, its samples are not run. */
export function isInstalled(program: string): boolean {
  return spawnSync(program, [program === 'go' ? 'version' : '--version'], { stdio: 'ignore' }).status === 0;
}

/** The command for one sample, or for several in one process: a process for each would take minutes. */
interface Runner {
  file: (id: string) => string;
  driver: string;
  driverFile: string;
  program: string;
}

const runners: Record<Exclude<Language, 'go'>, Runner> = {
  curl: {
    file: (id) => `${id}.sh`,
    driverFile: 'all.sh',
    driver: `for file in "$@"; do echo "${mark}$file"; sh "$file" 2>/dev/null; echo; done`,
    program: 'sh',
  },
  python: {
    file: (id) => `${id}.py`,
    driverFile: 'all.py',
    driver: [
      'import runpy, sys',
      'for file in sys.argv[1:]:',
      `    print("${mark}" + file, flush=True)`,
      '    try:',
      '        runpy.run_path(file)',
      '    except BaseException as error:',
      '        print("failed:", repr(error))',
      '    else:',
      '        print("done")',
      '    sys.stdout.flush()',
    ].join('\n'),
    program: 'python3',
  },
  typescript: {
    file: (id) => `${id}.mjs`,
    driverFile: 'all.mjs',
    driver: [
      'for (const file of process.argv.slice(2)) {',
      `  console.log('${mark}' + file);`,
      '  await import("./" + file).then(() => console.log("done"), (error) => console.log("failed:", error));',
      '}',
    ].join('\n'),
    program: process.execPath,
  },
  php: {
    file: (id) => `${id}.php`,
    driverFile: 'all.php',
    driver: `<?php foreach (array_slice($argv, 1) as $file) { echo "${mark}$file\n"; include $file; }`,
    program: 'php',
  },
};

/** What each sample printed, by id. */
export async function runSamples(
  language: Exclude<Language, 'go'>,
  samples: SampleText[],
): Promise<Map<string, string>> {
  const { file, driver, driverFile, program } = runners[language];
  const folder = await writeSamples(language, samples);
  writeFileSync(join(folder, driverFile), driver);
  const files = samples.map(({ id }) => file(id));
  const options = { cwd: folder, env, maxBuffer: 64 << 20, timeout: 120_000 };
  const { stdout } = await promisify(execFile)(program, [driverFile, ...files], options);
  const parts = stdout.split(new RegExp(`^${mark}`, 'm')).slice(1);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf('\n');
      return [part.slice(0, end).replace(/\.\w+$/, ''), part.slice(end + 1)];
    }),
  );
}

/** Starts a sample that does not end; `seen` resolves when it has printed the wanted text. */
export async function startSample(language: Exclude<Language, 'go'>, sample: SampleText, wanted: RegExp) {
  const { file, program } = runners[language];
  const child = spawn(program, [file(sample.id)], { cwd: await writeSamples(language, [sample]), env });
  let output = '';
  const seen = new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (wanted.test(output)) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', () => reject(new Error(`${language} ${sample.id} ended: ${output}`)));
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  return {
    seen,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function writeSamples(language: Exclude<Language, 'go'>, samples: SampleText[]): Promise<string> {
  const folder = makeFolder(`samples-${language}`);
  if (language !== 'typescript') {
    for (const { id, text } of samples) writeFileSync(join(folder, runners[language].file(id)), text);
    return folder;
  }
  const source = join(folder, 'source');
  mkdirSync(source);
  for (const { id, text } of samples) writeFileSync(join(source, `${id}.ts`), `${text}\nexport {};\n`);
  await build({
    entryPoints: samples.map(({ id }) => join(source, `${id}.ts`)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    alias: { '@heliograph/client': client },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
  });
  return folder;
}

/** Go compiles each sample to a program. */
export async function runGoSamples(samples: SampleText[]): Promise<Map<string, string>> {
  const folder = makeFolder('samples-go');
  writeFileSync(join(folder, 'go.mod'), 'module samples\n');
  mkdirSync(join(folder, 'bin'));
  for (const { id, text } of samples) {
    mkdirSync(join(folder, id));
    writeFileSync(join(folder, id, 'main.go'), text);
  }
  const run = promisify(execFile);
  await run('go', ['build', '-o', 'bin/', './...'], { cwd: folder, timeout: 600_000 });
  const outputs = new Map<string, string>();
  for (const { id } of samples) {
    const { stdout } = await run(join(folder, 'bin', id), [], { timeout: 60_000 });
    outputs.set(id, stdout);
  }
  return outputs;
}
