import type { Clock } from '../../src/platform/clock.ts';
import { insertRow } from '../../src/platform/crypto/key-ring-store.ts';
import { type OpenedVersion, type OpenKeyRing, openKeyRing } from '../../src/platform/crypto/open-key-ring.ts';
import type { Database } from '../../src/platform/database/database.ts';

export const testSecret = 'a secret for tests only';

let known: OpenedVersion | undefined;

/**
 * The ring of a test's database. The databases of a process get the first one's ring: to stretch the secret for each of
 * them takes as long as everything else that a test's app does at its start.
 */
export async function openTestKeyRing(database: Database, clock: Clock): Promise<OpenKeyRing> {
  if (known !== undefined) await insertRow(database, known);
  const opened = known === undefined ? [] : [known];
  const ring = await openKeyRing({ database, clock, secret: testSecret, opened });
  known ??= ring.opened().at(-1);
  return ring;
}
