import type { Client } from './client.ts';
import type { Ledger } from './ledger.ts';
import { createChangeAct, createLimitAct } from './load-changes.ts';
import { createCodeAct } from './load-codes.ts';
import { createTextActs } from './load-texts.ts';
import type { Meter } from './meter.ts';
import type { Act } from './open-loop.ts';
import type { Phones } from './phones.ts';
import { createTokenAct, type TokenKeeper } from './tokens.ts';
import type { World } from './world.ts';

interface Parts {
  client: Client;
  world: World;
  tokens: TokenKeeper;
  ledger: Ledger;
  meter: Meter;
  phones: Phones;
  /** 1 is modest: about 100 requests a second. */
  rate: number;
  runMs: number;
}

/** What callers do, and how often in a second. */
export function createActs({ client, world, tokens, ledger, meter, phones, rate, runMs }: Parts): Act[] {
  const texts = createTextActs(client, world, tokens, ledger);
  const changes = createChangeAct(client, world, ledger);
  const hurried = createLimitAct(client, { apiKey: world.hurried.apiKey, windowMs: 1000 }, ledger);
  const frugal = createLimitAct(client, { apiKey: world.frugal.apiKey, windowMs: 60_000 }, ledger);
  const every = (ms: number, run: () => Promise<void>): Act => ({ perSecond: 1000 / ms, run: oneAtATime(run) });
  return [
    { perSecond: 55 * rate, run: texts.send },
    { perSecond: rate, run: texts.sendBatch },
    { perSecond: 20 * rate, run: createCodeAct({ client, world, tokens, ledger, meter, phones }) },
    { perSecond: 5 * rate, run: createTokenAct(client, world, ledger) },
    { perSecond: 6 * rate, run: texts.read },
    { perSecond: 3 * rate, run: texts.list },
    every(5000, changes.change),
    every(10_000, hurried),
    every(130_000, frugal),
    // A command is a process of its own, which is too much for a run of seconds.
    ...(runMs < 60_000 ? [] : [every(Math.min(300_000, runMs / 2), changes.rotateSigningKeys)]),
  ];
}

/** What changes settings, or waits for a limit, is left out while the one before is not done. */
function oneAtATime(run: () => Promise<void>): Act['run'] {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    await run().finally(() => {
      isRunning = false;
    });
  };
}
