import { defineConfig } from 'vite';

/** Where `npm run dev -w portal` finds the service. */
const service = process.env.HELIOGRAPH_PUBLIC_URL ?? 'http://127.0.0.1:8080';
const served = ['/portal', '/sandbox', '/sms', '/verify', '/messaging', '/realms', '/docs', '/openapi'];

export default defineConfig({
  build: {
    target: 'es2023',
    // The content policy allows no data: fonts, and a hashed file is kept by the browser anyway.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Mantine marks its files for servers that render React, which this is not.
      onLog: (level, log, tell) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') tell(level, log);
      },
    },
  },
  server: {
    proxy: Object.fromEntries(served.map((path) => [path, { target: service }])),
  },
});
