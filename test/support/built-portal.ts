import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pagesFolder } from '../../src/compose/foundation.ts';

/** For a test that asks for the portal's pages. By importing this file it makes the runner build them. */
export function requirePages(): void {
  assert.ok(existsSync(join(pagesFolder, 'index.html')), 'The portal is not built: run `npm run build`.');
}
