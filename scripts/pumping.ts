// npm run pumping: the pumping laboratory. It drives the guard's rules with attacks and honest traffic on a virtual clock, judges
// them on seeds that tuning never saw, and writes bench/results/pumping.md and docs/pictures/pumping.svg. docs/decisions/0024.
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { attacks as attackList } from '../bench/pumping/attacks.ts';
import {
  type AttackResult,
  allAttacks,
  type HonestResult,
  judgingSeeds,
  tryAttack,
  tryHonest,
  tryThroughHook,
} from '../bench/pumping/goals.ts';
import { honestTraffic } from '../bench/pumping/honest.ts';
import { failures, hookTable, tables, writeHookReport, writeReport } from '../bench/pumping/report.ts';
import { small } from '../bench/pumping/tenants.ts';
import { tune } from '../bench/pumping/tune.ts';
import { loadPhoneNumbers } from '../src/messages/numbers/phone-number.ts';

const help = `npm run pumping               judges the guard on 20 seeds, and writes the results to the documents
npm run pumping -- hooks      the attacks through a hook that reports nothing, and writes the results
npm run pumping -- <seeds>    tries fewer seeds, and writes nothing
npm run pumping -- tune       tries other constants, on the seeds for tuning alone`;

const [given, job] = process.argv.slice(2);
const words = ['tune', 'hooks'];
const seedCount = given === undefined ? judgingSeeds.length : Number(given);
if (!words.includes(given ?? '') && !(seedCount >= 1 && seedCount <= judgingSeeds.length)) {
  console.log(help);
  process.exit(given === 'help' || given === '--help' ? 0 : 2);
}
await loadPhoneNumbers();
const percent = (share: number) => `${(100 * share).toFixed(2)} %`;

if (given === 'hooks') {
  const results = [];
  for (const attack of attackList) results.push(await tryThroughHook(attack, small, judgingSeeds));
  console.log(hookTable(results));
  writeHookReport(results);
  process.exit(0);
}

if (given === 'tune') {
  await tune(({ constant, value, isChosen, leastStopped, mostRefused, honestRefused }) =>
    console.log(
      `${isChosen ? '→' : ' '} ${constant} ${value}: stopped ${percent(leastStopped)}, new users refused ${percent(mostRefused)}, honest refused ${percent(honestRefused)}`,
    ),
  );
  process.exit(0);
}

const seeds = judgingSeeds.slice(0, seedCount);
const jobs: (() => Promise<AttackResult | HonestResult>)[] = [
  ...honestTraffic.map((traffic) => () => tryHonest(traffic, seeds)),
  ...allAttacks.map(
    ({ attack, tenant }) =>
      () =>
        tryAttack(attack, tenant, seeds),
  ),
];

/** Each job is a process of its own, one for each core. */
if (job !== undefined) {
  const done = await jobs[Number(job)]?.();
  process.send?.(done, () => process.exit(0));
} else {
  const results = await runJobs();
  const honest = honestTraffic.map((traffic, index) => ({ ...(results[index] as HonestResult), traffic }));
  const attacks = allAttacks.map((each, index) => ({
    ...(results[honestTraffic.length + index] as AttackResult),
    ...each,
  }));
  console.log(tables(attacks, honest));
  if (given === undefined) writeReport(attacks, honest);
  const failed = failures(attacks, honest);
  console.log(failed.length === 0 ? 'All goals hold.' : failed.join('\n'));
  process.exit(failed.length === 0 ? 0 : 1);
}

async function runJobs(): Promise<unknown[]> {
  const results: unknown[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < jobs.length; index = next++) {
      results[index] = await runJob(index);
      console.error(`${index + 1} of ${jobs.length}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), jobs.length) }, work));
  return results;
}

function runJob(index: number): Promise<unknown> {
  const child = fork(fileURLToPath(import.meta.url), [String(seedCount), String(index)]);
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => (code === 0 ? undefined : reject(new Error(`a job ended with ${code}`))));
  });
}
