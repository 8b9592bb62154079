// Compiles the tests and what they import, once for all processes of a run: to compile in each takes longer than most
// test files do.
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const others = ['sdk/src', 'cli/src', 'portal/src', 'portal/build', 'test', 'scripts', 'bench'];
/** These run something as soon as they are imported. */
const programs = /^src\/(main|web-process|delivery-thread|smsc\/main|identity\/signing-thread)\.ts$/;

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
  writeParts(folder, metafile);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
}

function filesIn(name: string): string[] {
  const files = readdirSync(join(root, name), { recursive: true }).map((file) => join(name, String(file)));
  return files.filter((file) => file.endsWith('.ts')).sort();
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
 * second. Each source has a part in it, which `writeParts` writes as a file that tests import.
 */
async function joinService(folder: string): Promise<void> {
  const contents = joined().map((file, number) => `export * as part${number} from './${file}';`);
  await build({
    ...options,
    stdin: { contents: contents.join('\n'), resolveDir: root },
    outfile: join(folder, 'service.js'),
    // Loaded later and only if needed, or, like pino, started by the names of files.
    external: ['pino', 'pg-native', '@redis/client', 'undici', 'libphonenumber-js'],
    // Packages in CommonJS ask for Node's modules by `require`.
    banner: {
      js: `import { createRequire as createRequireHere } from 'node:module';\nconst require = createRequireHere(${JSON.stringify(root)});`,
    },
    plugins: [keepPlaces],
  });
}

function joined(): string[] {
  return filesIn('src').filter(isJoined);
}

function isJoined(file: string): boolean {
  return file.startsWith('src/') && !file.endsWith('.test.ts') && !programs.test(file);
}

function writeParts(folder: string, { outputs }: Metafile): void {
  const exportsOf = new Map(Object.values(outputs).map((output) => [output.entryPoint, output.exports]));
  for (const [number, file] of joined().entries()) {
    const names = exportsOf.get(file) ?? [];
    const place = join(folder, partName(file));
    mkdirSync(dirname(place), { recursive: true });
    const service = relative(dirname(place), join(folder, 'service.js'));
    writeFileSync(
      place,
      `import { part${number} } from '${service}';\nexport const { ${names.join(', ')} } = part${number};\n`,
    );
  }
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
