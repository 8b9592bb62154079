import assert from 'node:assert/strict';
import { createChores } from '../../src/compose/chores/chores.ts';
import type { TestApp } from './app.ts';
import { createTestLog } from './log.ts';

/** Runs the chores of these names to their end: all of them would take the work of a hundred statements. */
export async function runChores({ config, keys, clock, db }: TestApp, ...names: string[]): Promise<void> {
  const { log } = createTestLog();
  const { database } = db;
  const chores = createChores({ config, database, clock, keys, log, deliverIncomplete: async () => 0 });
  for (const name of names) {
    const { runPiece } = chores.find((each) => each.name === name) ?? assert.fail(`there is no chore ${name}`);
    while ((await runPiece()) > 0);
  }
}
