// Compiles the tests and what they import, once for all processes of a run: to compile in each takes longer than most
// test files do.
import { readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Writes `test/a.test.ts` as `<folder>/test/a.test.js`. */
export async function compileTests(folder: string): Promise<void> {
  const folders = ['src', 'sdk/src', 'cli/src', 'portal/src', 'portal/build', 'test', 'scripts', 'bench'];
  const files = folders.flatMap((name) =>
    readdirSync(join(root, name), { recursive: true }).map((file) => join(name, String(file))),
  );
  await build({
    absWorkingDir: root,
    entryPoints: files.filter((file) => file.endsWith('.ts')),
    outdir: folder,
    outbase: '.',
    format: 'esm',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
    // Only a bundle may rewrite the names of imports. Every file is an entry, and every import stays one.
    bundle: true,
    packages: 'external',
    plugins: [joinPackages, keepImports, keepPlaces],
    logLevel: 'warning',
  });
  await build({
    absWorkingDir: root,
    entryPoints: joined,
    outdir: join(folder, 'joined'),
    format: 'esm',
    target: 'node20',
    bundle: true,
    logLevel: 'warning',
  });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
}

/** Packages of hundreds of files: to load them one by one takes each process a quarter of a second. */
const joined = ['typebox'];

const joinPackages: Plugin = {
  name: 'join packages',
  setup(compiler) {
    compiler.onResolve({ filter: new RegExp(`^(${joined.join('|')})$`) }, ({ path, importer }) => {
      const place = relative(dirname(importer), root) || '.';
      return { path: `${place}/joined/${path}.js`, external: true };
    });
  },
};

export function compiledName(file: string): string {
  return file.replace(/\.ts(?=\?|$)/, '.js');
}

const keepImports: Plugin = {
  name: 'keep imports',
  setup(compiler) {
    compiler.onResolve({ filter: /\.ts(\?|$)/ }, ({ kind, path }) =>
      kind === 'entry-point' ? undefined : { path: compiledName(path), external: true },
    );
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
