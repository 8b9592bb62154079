// Compiles the command line into one file, the client included: `node scripts/compile-cli.mjs <folder>`.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const [folder = 'cli/dist'] = process.argv.slice(2);

await build({
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  entryPoints: ['cli/src/main.ts'],
  outdir: folder,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  bundle: true,
  // It runs the service's program from where it lies.
  external: ['../bin/*'],
  logLevel: 'warning',
});
