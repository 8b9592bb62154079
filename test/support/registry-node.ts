// A node of its own: a registry in another process, asked over IPC what it would say of a key.

import { systemClock } from '../../src/platform/clock.ts';
import { createDatabase } from '../../src/platform/database/database.ts';
import { ownedText } from '../../src/platform/owned-text.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { readConfig } from '../../src/settings/settings.ts';
import type { Connection } from './database.ts';
import { openTestKeyRing } from './key-ring.ts';
import { createTestLog } from './log.ts';

export type Question = { key: string };
export type Verdict = { from: 'memory' | 'database'; owner: string | null };

const { log } = createTestLog();
const connection = JSON.parse(process.argv[2] ?? '') as Connection;
const database = createDatabase({ connection, log });
const keys = await openTestKeyRing(database, systemClock);
const registry = createRegistry({ database, clock: systemClock, keys, log, config: readConfig({}), listen: false });
await registry.feed.start();

process.on('message', async ({ key }: Question) => {
  const { keyLookup } = registry;
  const remembered = keyLookup.remembered(ownedText(key));
  const found = remembered === undefined ? await keyLookup.lookUp(ownedText(key)) : remembered;
  const verdict: Verdict = {
    from: remembered === undefined ? 'database' : 'memory',
    owner: found?.caller.applicationId ?? null,
  };
  process.send?.(verdict);
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
