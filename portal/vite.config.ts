import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { guides } from './build/guides.ts';

/** The service's address for `npm run dev -w portal`. */
const service = process.env.HELIOGRAPH_PUBLIC_URL ?? 'http://127.0.0.1:8080';
const served = ['/portal', '/sandbox', '/sms', '/verify', '/messaging', '/realms', '/openapi'];

/** The service sends compressed files. Compressing them here keeps its starts fast. */
const compress: Plugin = {
  name: 'compress',
  writeBundle({ dir = '' }, bundle) {
    for (const [name, file] of Object.entries(bundle)) {
      const data = file.type === 'chunk' ? file.code : file.source;
      if (/\.(html|js|css|svg)$/.test(name)) writeFileSync(join(dir, `${name}.gz`), gzipSync(data, { level: 9 }));
    }
  },
};

export default defineConfig({
  plugins: [guides, compress],
  build: {
    target: 'es2023',
    // The content policy allows no data: fonts, and a hashed file is kept by the browser anyway.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Not served: it goes with the package (scripts/third-party.mjs does the same for the service).
    license: { fileName: 'THIRD-PARTY.md' },
    rolldownOptions: {
      // Mantine marks its files for server rendering, which the portal does not use.
      onLog: (level, log, pass) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') pass(level, log);
      },
    },
  },
  server: {
    proxy: Object.fromEntries(served.map((path) => [path, { target: service }])),
  },
});
