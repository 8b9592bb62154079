// Makes the pictures of the README anew: test/browser/pictures.test.ts, in light and dark and at double size.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { status } = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/test.ts', 'browser/pictures'], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, HELIOGRAPH_PICTURES: `${root}docs/pictures` },
});
process.exit(status ?? 1);
