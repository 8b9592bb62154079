// Compiles the service into a few files, its packages included: `node scripts/compile-service.mjs <folder>`. To load
// hundreds of small files takes longer than everything else that a start does (decision 0015).
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const [folder = 'dist'] = process.argv.slice(2);

await build({
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  // The programs, and the threads that they start by the name of their file.
  entryPoints: {
    main: 'src/main.ts',
    smsc: 'src/smsc/main.ts',
    'delivery-thread': 'src/delivery-thread.ts',
    'signing-thread': 'src/identity/signing-thread.ts',
  },
  // Two levels below the project's folder, like most sources: they find migrations and pages from there.
  outdir: join(folder, 'service'),
  format: 'esm',
  platform: 'node',
  target: 'node20',
  bundle: true,
  splitting: true,
  // pino starts threads from files of its own, pg asks for pg-native; the others are loaded later, and only if needed.
  external: ['pino', 'pg-native', 'libphonenumber-js', '@redis/client', 'undici'],
  // Packages in CommonJS ask for Node's modules by `require`.
  banner: {
    js: "import { createRequire as createRequireHere } from 'node:module';\nconst require = createRequireHere(import.meta.url);",
  },
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
});
