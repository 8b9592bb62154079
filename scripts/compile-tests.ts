// Compiles the tests and what they import, once for all processes of a run: to compile in each takes longer than most
// test files do.
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { bannerFor } from './service-banner.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Types alone, which the build makes. */
const types = 'sdk/src/openapi.ts';
const others = ['sdk/src', 'cli/src', 'portal/src', 'portal/build', 'test', 'scripts', 'bench'];
/** These run something as soon as they are imported. */
const programs = /^src\/(main|web-process|delivery-thread|smsc\/main|identity\/signing-thread)\.ts$/;

/** Packages of the service, in ES modules, that tests import too. */
const joinedPackages = ['typebox', 'jose'];

const options: BuildOptions = {
  absWorkingDir: root,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  bundle: true,
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
};

/** Writes `test/a.test.ts` as `<folder>/test/a.test.js`. */
export async function compileTests(folder: string): Promise<void> {
  const [{ metafile }] = await Promise.all([compileEach(folder), joinService(folder)]);
  const exportsOf = new Map(Object.values(metafile.outputs).map((output) => [output.entryPoint, output.exports]));
  for (const file of joined()) writePart(folder, file, exportsOf.get(file) ?? []);
  for (const name of joinedPackages) {
    const names = Object.keys(await import(name)).filter((each) => each !== 'default');
    writePart(folder, packagePlace(name), names);
  }
  finish(folder);
}

/** The runner, and what each process of tests loads besides them. */
const programsOfRunner = ['run-test-files', 'import-test-files', 'lighter-tracking', 'report-cpu', 'fixed-seed'];

/** For pure tests: only they and what they import, in a tenth of the time. Files that share a source share one copy of it. */
export async function compilePureTests(folder: string, files: string[]): Promise<void> {
  await build({
    ...options,
    entryPoints: [...files, ...programsOfRunner.map((name) => `scripts/${name}.ts`)],
    outdir: folder,
    outbase: '.',
    splitting: true,
    chunkNames: 'parts/[hash]',
    packages: 'external',
    plugins: [keepPlaces],
  });
  finish(folder);
}

/** Makes the folder one of ES modules that find the packages of the project. */
function finish(folder: string): void {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
}

function filesIn(name: string): string[] {
  const files = readdirSync(join(root, name), { recursive: true }).map((file) => join(name, String(file)));
  return files.filter((file) => file.endsWith('.ts') && file !== types).sort();
}

function compileEach(folder: string) {
  return build({
    ...options,
    entryPoints: ['src', ...others].flatMap(filesIn),
    outdir: folder,
    outbase: '.',
    // Only a bundle may rewrite the names of imports. Every file is an entry, and every import stays one.
    packages: 'external',
    plugins: [keepImports, keepPlaces],
    metafile: true,
  });
}

/**
 * The service with its packages as one file, `service.js`: to load a thousand files one by one takes each process most of a
 * second. Each source has a part in it, which `writePart` writes as a file that tests import.
 */
async function joinService(folder: string): Promise<void> {
  const parts = [
    ...joined().map((file) => `export * as ${variableOf(file)} from './${file}';`),
    ...joinedPackages.map((name) => `export * as ${variableOf(packagePlace(name))} from '${name}';`),
  ];
  await build({
    ...options,
    stdin: { contents: parts.join('\n'), resolveDir: root },
    outfile: join(folder, 'service.js'),
    // Loaded later and only if needed.
    external: ['pg-native', '@redis/client', 'undici', 'libphonenumber-js'],
    banner: { js: bannerFor(JSON.stringify(root)) },
    plugins: [keepPlaces],
  });
}

function joined(): string[] {
  return filesIn('src').filter(isJoined);
}

function isJoined(file: string): boolean {
  return file.startsWith('src/') && !file.endsWith('.test.ts') && !programs.test(file);
}

function packagePlace(name: string): string {
  return `packages/${name}.ts`;
}

function variableOf(file: string): string {
  return file.replaceAll(/\W/g, '_');
}

function writePart(folder: string, file: string, names: string[]): void {
  const location = join(folder, partName(file));
  mkdirSync(dirname(location), { recursive: true });
  const service = relative(dirname(location), join(folder, 'service.js'));
  const variable = variableOf(file);
  writeFileSync(
    location,
    `import { ${variable} } from '${service}';\nexport const { ${names.join(', ')} } = ${variable};\n`,
  );
}

export function compiledName(file: string): string {
  return file.replace(/\.ts(?=\?|$)/, '.js');
}

function partName(file: string): string {
  return file.replace(/\.ts$/, '.part.js');
}

/** A file that is imported with a query, such as `?again`, is loaded by itself, and once more for each query. */
const keepImports: Plugin = {
  name: 'keep imports',
  setup(compiler) {
    compiler.onResolve({ filter: /\.ts(\?|$)/ }, ({ kind, path, resolveDir }) => {
      if (kind === 'entry-point') return undefined;
      const file = relative(root, join(resolveDir, path));
      return { path: isJoined(file) && file.endsWith('.ts') ? partName(path) : compiledName(path), external: true };
    });
    compiler.onResolve({ filter: new RegExp(`^(${joinedPackages.join('|')})$`) }, ({ path, importer }) => {
      const home = relative(dirname(importer), root) || '.';
      return { path: `${home}/${partName(packagePlace(path))}`, external: true };
    });
  },
};

/** A file that asks for its own place gets that of its source: migrations and scripts are found from there. */
const keepPlaces: Plugin = {
  name: 'keep places',
  setup(compiler) {
    compiler.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href));
      return { contents, loader: 'ts' };
    });
  },
};
