// Compiles the service into a few files, its packages included: `node scripts/compile-service.mjs <folder>`. To load
// hundreds of small files takes longer than everything else that a start does (decision 0015).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bannerFor } from './service-banner.mjs';
import { thirdPartyLicences } from './third-party.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [folder = 'dist'] = process.argv.slice(2);

const { metafile } = await build({
  absWorkingDir: root,
  // The programs, and the processes and threads that they start by the name of their file.
  entryPoints: {
    main: 'src/main.ts',
    smsc: 'src/smsc/main.ts',
    'web-process': 'src/web-process.ts',
    'delivery-thread': 'src/delivery-thread.ts',
    'signing-thread': 'src/identity/signing-thread.ts',
  },
  // Two levels below the project's folder, like most sources: they find migrations and pages from there.
  outdir: join(folder, 'service'),
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // It would make a new expression at each use.
  supported: { 'regexp-unicode-property-escapes': true },
  bundle: true,
  // Node reads every line before the service starts: without spaces a start takes 120 ms less, over both threads.
  minifyWhitespace: true,
  lineLimit: 200,
  splitting: true,
  // pg asks for pg-native; the others are CommonJS, loaded later and only if needed: a chunk of one would export no names.
  external: ['pg-native', '@redis/client', 'undici'],
  banner: { js: bannerFor('import.meta.url') },
  sourcemap: 'linked',
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
});
writeFileSync(join(root, folder, 'THIRD-PARTY.txt'), thirdPartyLicences(root, Object.keys(metafile.inputs)));
